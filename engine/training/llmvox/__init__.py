"""LLMVoX: its tokens, its lessons, its network and its pack."""
