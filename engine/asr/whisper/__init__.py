"""Whisper, and a confidence check of its output."""
