"""Kokoro, word by word."""
