"""Speech recognisers behind one session protocol."""
