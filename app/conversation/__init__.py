"""The conversation: what was said, what is written, what is kept."""
