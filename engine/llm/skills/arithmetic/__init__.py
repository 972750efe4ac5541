"""Sums, percentages, tips and fractions."""
