"""Language models and built-in skills behind one protocol."""
