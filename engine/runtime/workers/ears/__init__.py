"""Listening: the microphone, speech activity, transcripts."""
