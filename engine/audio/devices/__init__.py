"""Microphones and loudspeakers of the machine, and files that replace them."""
