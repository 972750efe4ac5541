"""The page about the program itself."""
