"""Formulas in LaTeX: where one begins and ends in a stream of text, and how it is said."""
