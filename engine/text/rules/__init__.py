"""How written text is read aloud: one file for each kind of token."""
