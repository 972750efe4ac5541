"""VoXtream2: full-stream speech with a cloned voice and a rate that can change at every frame."""
