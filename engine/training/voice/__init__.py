"""The voice in training, from encoded utterances to a true rate table."""
