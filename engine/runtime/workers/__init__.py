"""One thread each: what it owns, and the orders it takes."""
