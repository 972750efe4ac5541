"""Saved conversations: the panel on the left and its list."""
