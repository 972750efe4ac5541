"""The same server on several machines, by Ray Serve: one engine per replica."""
