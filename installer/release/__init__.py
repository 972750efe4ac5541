"""A release, made by one command: archives, their hashes, the list of parts, licences and notes.

Invariant: the version stands in pyproject.toml alone; the folder of a release appears whole or not
at all, and what was built twice and came out differently is no release.
"""
