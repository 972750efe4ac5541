"""The stream of a reply's text: markdown and pace tags are removed, and deltas are cut into
words."""
