"""Training of the codec, and of the decoder that is shipped."""
