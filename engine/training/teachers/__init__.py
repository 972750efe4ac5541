"""Who speaks the corpus: free synthesisers, and the sounds they have in common."""
