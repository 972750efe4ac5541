"""Sound in files: recordings that are read, and recordings that are made."""
