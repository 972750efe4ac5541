"""What a model writes that is not for the ear: thoughts, and calls of the skills."""
