"""How what is written is said: one page a kind of token."""
