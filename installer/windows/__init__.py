"""Rubato for Windows: an installer for one person, who need not be an administrator.

    python -m installer.windows FOLDER [--python EMBEDDABLE]     # makes FOLDER/rubato-VERSION.exe

It lays down the release (installer/bundle.py), a Python to run the bootstrapper with, and two small
programs that start it: Rubato.exe without a terminal, bin/rubato.exe in one. What was tried, and
how, stands in NOTES.md.
"""
