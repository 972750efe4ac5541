"""The engine's threads: turns, listening, language model, speech."""
