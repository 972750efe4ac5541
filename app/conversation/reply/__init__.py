"""What a language model writes, as paragraphs to show."""
