"""How things look: theme, icons and small widgets."""
