"""The same server on several machines, by Ray Serve: one replica an engine."""
