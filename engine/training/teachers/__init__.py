"""The free synthesisers that speak the corpus, and the set of sounds that they share."""
