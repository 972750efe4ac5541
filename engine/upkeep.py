"""What keeps an installed program well, for hosts: crash notes, diagnostics, licences.

Invariant: importing this imports nothing heavy; each call does one thing on the calling thread.
"""

from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from engine.crash_notes import CrashNotes
from engine.licences import Work
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.doctor import Finding

__all__ = ["CrashNotes", "Work", "crash_notes", "diagnostics", "licences", "version"]


def crash_notes() -> CrashNotes:
    """What went wrong on this machine, kept for the person: see engine.crash_notes."""
    from engine import settings_file

    return CrashNotes(settings_file.data_folder() / "notes")


def diagnostics(settings: Settings, findings: "Sequence[Finding]") -> dict[str, Any]:
    """What may be shown to others of this machine: see engine.doctor.diagnostics."""
    from engine import doctor

    return doctor.diagnostics(settings, findings, crash_notes())


def licences() -> list[tuple[Work, str]]:
    """All that this program is made of, with the licence of each in full: see engine.licences."""
    from engine import licences

    return [(work, licences.text_of(work)) for work in licences.works()]


def version() -> str:
    """This program's own, for example 0.1.0; empty in a folder that was never installed."""
    try:
        return metadata.version("rubato")
    except metadata.PackageNotFoundError:
        return ""
