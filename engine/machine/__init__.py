"""Memory, a graphics card, paths for libraries in C, and imports that a start defers."""
