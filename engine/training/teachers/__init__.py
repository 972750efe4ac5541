"""Who speaks the corpus: free synthesisers, and a teacher with prescribed durations."""
