"""The three transformers of VoXtream2, and how they make a frame."""
