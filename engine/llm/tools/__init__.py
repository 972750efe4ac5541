"""The parts of a model's output that are not spoken: thoughts, and calls of the skills."""
