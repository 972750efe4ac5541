"""Model files: which there are, fetching, verifying and removing them."""
