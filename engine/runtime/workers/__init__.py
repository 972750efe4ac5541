"""Workers: one thread each, with its own objects and orders."""
