"""The page of models."""
