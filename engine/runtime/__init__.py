"""The only place with threads: turns, listening, thinking, speaking."""
