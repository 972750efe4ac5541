"""Export of a conversation: text, Markdown and JSON."""
