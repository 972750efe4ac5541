"""LLMVoX: one unit of text in, one token of speech out, step by step."""
