"""Sound files: reading and checking recordings, and making new ones."""
