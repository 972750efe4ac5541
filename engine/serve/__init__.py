"""Server for other programs: voice, recogniser and language model over the network."""
