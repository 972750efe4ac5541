"""SMLLE: its tokens, the transducer with its lattice, the spectrum (LLMVoX's too) and its pack."""
