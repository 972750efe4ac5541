"""A conversation as a file a person can keep: text, Markdown and JSON."""
