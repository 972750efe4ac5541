"""The precision of VoXtream2 on this machine, picked by measured speed and stored in the data
folder.

Invariant: a pick is valid for the kind of device it was measured on; an invalid file counts as
missing. Imports no torch, so that a host can read and write picks without the model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.settings_file import read_pick, write_pick

NAMES: Final = ("full", "int8")  # best sound first
LARGEST_RTF: Final = 0.8  # beyond that, a busy moment of the machine is heard as a gap
FILE: Final = "profile.json"


@dataclass(frozen=True)
class Pick:
    """The precision for a kind of device ('cpu', 'cuda'), and the reason in one sentence. `profile`
    is empty when no precision is fast enough.
    """

    profile: str
    device: str
    reason: str


def judge(device: str, rtfs: Mapping[str, float]) -> Pick:
    """Pick the best of the measured precisions (name -> RTF, not empty) below LARGEST_RTF."""
    names = [name for name in NAMES if name in rtfs]
    for place, name in enumerate(names):
        if rtfs[name] < LARGEST_RTF:
            speed = f"{name} keeps RTF at {rtfs[name]:.2f}"
            better = [f"{other} would need {rtfs[other]:.2f}" for other in reversed(names[:place])]
            return Pick(name, device, "; ".join([speed, ", ".join(better)]).rstrip("; ") + ".")
    fastest = min(names, key=lambda name: rtfs[name])
    reason = (
        f"No precision keeps RTF below {LARGEST_RTF}: the fastest, {fastest}, needs "
        f"{rtfs[fastest]:.2f}. The built-in voice stays."
    )
    return Pick("", device, reason)


def keep(pick: Pick, folder: Path) -> None:
    """Write the pick into the data folder. SettingsError when it cannot be written."""
    write_pick(pick, folder / FILE, what="precision", setting="speech.engine")


def find_pick(folder: Path, device: str) -> str:
    """Return the precision picked for this kind of device; empty without a pick."""
    pick = last_pick(folder)
    fits = pick is not None and pick.device == device and pick.profile in NAMES
    return pick.profile if pick is not None and fits else ""


def last_pick(folder: Path) -> Pick | None:
    """Return the last pick, for any device; None when nothing was measured."""
    return read_pick(Pick, folder / FILE)
