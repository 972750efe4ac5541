"""Saved conversations, in one SQLite file that only its owner can read."""
