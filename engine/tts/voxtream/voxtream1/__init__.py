"""VoXtream, the predecessor of VoXtream2: no guidance, no rate, a prompt with its text."""
