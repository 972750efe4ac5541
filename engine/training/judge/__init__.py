"""What is measured of a voice, by ears that took no part in its training."""
