"""LLMVoX: its lessons, its network and its pack."""
