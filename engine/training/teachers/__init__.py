"""The free synthesisers that speak the corpus, and the sounds they have in common."""
