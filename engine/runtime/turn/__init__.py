"""Whose turn it is: facts in, orders out, and the reply; no thread of its own."""
