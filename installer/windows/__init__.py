"""Rubato for Windows: an installer for one user, who need not be an administrator.

    python -m installer.windows FOLDER [--python EMBEDDABLE]     # makes FOLDER/rubato-VERSION.exe

It installs the release (installer/bundle.py), a Python to run the bootstrapper with, and two small
programs that start it: Rubato.exe without a terminal, bin/rubato.exe in one. NOTES.md lists what
was tried, and how.
"""
