"""Crash notes: a log and notes of crashes, kept on this machine for the user alone.

Invariant: nothing is sent anywhere, and no note contains the user's words, names or paths. The
program's own log lines are reduced to source text and numbers, an error to its class and its places
in the code.
"""

from engine.crash_notes.keeper import CrashNotes

__all__ = ["CrashNotes"]
