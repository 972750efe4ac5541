"""Rubato for other programs: the voice, the ears and the language model over the network."""
