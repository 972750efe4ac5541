"""What listens: the microphone, who speaks when, what was said."""
