"""Rubato for macOS: an application that holds the release and installs it at its first start.

    python -m installer.macos FOLDER      # makes FOLDER/rubato-VERSION-macos.zip

How it is signed and notarised, and what was never run, stands in NOTES.md.
"""
