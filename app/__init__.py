"""The window and the command line; sees nothing of the engine but engine.api."""
