"""Training of the voice, from encoded utterances to a tuned rate table."""
