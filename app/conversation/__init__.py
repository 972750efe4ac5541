"""The conversation: showing it, typing, recording and exporting it."""
