"""What the loudspeaker plays, taken out of what the microphone hears."""
