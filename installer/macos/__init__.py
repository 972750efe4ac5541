"""Rubato for macOS: an application that contains the release and installs it at its first start.

    python -m installer.macos FOLDER      # makes FOLDER/rubato-VERSION-macos.zip

NOTES.md describes how to sign and notarise it, and lists the steps that were never run.
"""
