"""LLMVoX with the weights that its authors published."""
