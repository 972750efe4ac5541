"""Documents that are read aloud: their list, and the text with the word that is heard."""
