"""Saved conversations: the panel on the left, and what belongs to it."""
