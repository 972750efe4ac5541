"""Being called by name: whether a phrase will do, and finding it in what the microphone hears."""
