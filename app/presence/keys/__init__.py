"""Keys that work without the focus, each system in its own way."""
