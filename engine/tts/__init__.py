"""Speech synthesisers behind one session protocol."""
