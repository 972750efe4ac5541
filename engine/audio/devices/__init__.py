"""Microphones and loudspeakers: the machine's own, and files that stand for them."""
