"""Sums, and what people do with shares of things: percentages, tips, fractions."""
