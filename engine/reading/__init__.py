"""Documents read aloud: their chapters, and the places kept in them."""
