"""Global keys, which work without the focus, for each system."""
