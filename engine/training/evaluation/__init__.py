"""Measurements of a voice by judges that took no part in its training."""
