"""Speaking: the synthesiser in use, and the samples for the loudspeaker."""
