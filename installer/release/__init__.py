"""Make a release by one command: archives, their hashes, the list of parts, licences and notes.

Invariant: the version is only in pyproject.toml. The folder of a release appears complete or not at
all, and an archive that differs when it is built twice is not released.
"""
