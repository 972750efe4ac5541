"""Conversations that were kept: the panel at the left, and what belongs to it."""
