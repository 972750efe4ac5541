"""LLMVoX by the weights that its authors published."""
