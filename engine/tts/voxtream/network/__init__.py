"""The three transformers, and how a frame is made of them."""
