"""Who speaks: speaker encoders, and a voice made of a recording."""
