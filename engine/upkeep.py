"""What keeps an installed program well, for hosts: notes of what broke, and diagnostics.

Invariant: importing this imports nothing heavy; each call does one thing on the calling thread.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.crash_notes import CrashNotes
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.doctor import Finding

__all__ = ["CrashNotes", "crash_notes", "diagnostics"]


def crash_notes() -> CrashNotes:
    """What went wrong on this machine, kept for the person: see engine.crash_notes."""
    from engine import settings_file

    return CrashNotes(settings_file.data_folder() / "notes")


def diagnostics(settings: Settings, findings: "Sequence[Finding]") -> dict[str, Any]:
    """What may be shown to others of this machine: see engine.doctor.diagnostics."""
    from engine import doctor

    return doctor.diagnostics(settings, findings, crash_notes())
