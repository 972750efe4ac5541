"""Training of the small codec, and of the decoder that ships with a voice."""
