"""Which profile this machine should speak with: judged by speed, kept in the data folder.

Invariant: a pick holds for the kind of device it was measured on; a file that is no pick counts as
none. Imports no torch, so that a host can read and write picks without the model.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from engine.errors import SettingsError

NAMES: Final = ("full", "int8", "int4", "int4-8")  # best sound first
LARGEST_RTF: Final = 0.8  # beyond that, a busy moment of the machine is heard as a gap
FILE: Final = "profile.json"
_LARGEST_BYTES: Final = 10_000


@dataclass(frozen=True)
class Pick:
    """The profile to speak with on a kind of device ('cpu', 'cuda'), and why in one sentence.

    `profile` is empty when none is fast enough.
    """

    profile: str
    device: str
    reason: str


def judge(device: str, rtfs: Mapping[str, float]) -> Pick:
    """The best profile that stays below LARGEST_RTF, of those measured (name -> RTF, not empty)."""
    ordered = [name for name in NAMES if name in rtfs]
    for place, name in enumerate(ordered):
        if rtfs[name] < LARGEST_RTF:
            kept = f"{name} keeps RTF at {rtfs[name]:.2f}"
            better = [
                f"{other} would need {rtfs[other]:.2f}" for other in reversed(ordered[:place])
            ]
            return Pick(name, device, "; ".join([kept, ", ".join(better)]).rstrip("; ") + ".")
    fastest = min(ordered, key=lambda name: rtfs[name])
    reason = (
        f"No profile keeps RTF below {LARGEST_RTF}: the fastest, {fastest}, needs "
        f"{rtfs[fastest]:.2f}. The built-in voice stays."
    )
    return Pick("", device, reason)


def keep(pick: Pick, folder: Path) -> None:
    """Write the pick into the data folder. SettingsError when it cannot be written."""
    partial = folder / (FILE + ".partial")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(asdict(pick), indent=2), encoding="utf-8")
        partial.replace(folder / FILE)
    except OSError as error:
        raise SettingsError(
            f"The choice of profile cannot be saved in {folder}: {error.strerror or error}.",
            hint="Make room or allow writing there, or set speech.profile yourself.",
        ) from error


def kept(folder: Path, device: str) -> str:
    """The name of the profile picked for this kind of device; empty when there is none."""
    try:
        with (folder / FILE).open(encoding="utf-8") as file:
            found = Pick(**json.loads(file.read(_LARGEST_BYTES)))
    except (OSError, ValueError, TypeError, RecursionError):
        return ""  # never measured, or not by us
    return found.profile if found.device == device and found.profile in NAMES else ""
