"""Model files: the catalogue, and fetching, verifying and removing them."""
