"""The language of the window: its words in the person's own."""
