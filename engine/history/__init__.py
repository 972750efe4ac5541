"""Conversations that are kept, in one SQLite file only their owner can read."""
