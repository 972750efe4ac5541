"""The stream of a reply's text: markdown is removed, and deltas are cut into
words."""
