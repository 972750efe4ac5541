"""Whisper, and how much of what it writes to believe."""
