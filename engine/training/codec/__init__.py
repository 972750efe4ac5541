"""The codec and the decoder that ships, in training."""
