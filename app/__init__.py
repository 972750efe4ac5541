"""The window and the command line; of the engine they use only engine.api."""
