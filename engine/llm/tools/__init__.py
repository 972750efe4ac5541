"""What a model writes that is not to be spoken: thoughts, and calls of the skills."""
