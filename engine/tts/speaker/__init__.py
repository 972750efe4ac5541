"""Speaker encoders, and voices made from recordings."""
