"""The conversation: its view, the message field, and the tools of a reply."""
