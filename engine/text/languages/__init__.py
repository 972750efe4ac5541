"""Reading figures, signs and short forms in the languages other than English."""
