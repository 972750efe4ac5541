"""The time, here and elsewhere, and days: what they are called, when they are, how far away."""
