"""LLMVoX: in each step the network reads one text unit and speaks one token."""
