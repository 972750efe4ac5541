"""What this machine can do, and how to use it: memory, a graphics card, paths, late imports."""
