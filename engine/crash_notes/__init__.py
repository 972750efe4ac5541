"""What went wrong, noted on this machine for the person alone: a log and notes of crashes.

Invariant: nothing is sent anywhere, and no note holds what a person said, wrote, named or where
they keep it: of the program's own lines the words that stand in the source and the numbers, of a
fault its kind and the places in the code.
"""

from engine.crash_notes.keeper import CrashNotes

__all__ = ["CrashNotes"]
