"""The language of the window, and its translations."""
