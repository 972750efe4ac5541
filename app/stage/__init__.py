"""The stage: the orb and the talk button."""
