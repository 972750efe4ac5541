"""The speed of each synthesiser on this machine, as `rubato bench` measured it, and the number of
utterances that it can speak at once.

Invariant: a file that is not a measurement counts as missing. Imports no synthesiser.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.benchmark_choice import read_pick, write_pick
from engine.tts.pick import LARGEST_RTF

FILE: Final = "speeds.json"
MOST: Final = 8
UNMEASURED: Final = 2  # places, before anything was measured


@dataclass(frozen=True)
class Speeds:
    """Names of synthesisers with their real-time factors: computing time over the length of the
    sound.
    """

    rtfs: tuple[tuple[str, float], ...] = ()
    reason: str = ""


def keep(rtfs: Mapping[str, float], folder: Path) -> None:
    """Add measurements. SettingsError when they cannot be written."""
    speeds = Speeds(tuple({**_kept(folder), **rtfs}.items()))
    write_pick(speeds, folder / FILE, what="places", setting="serve.places")


def places(name: str, folder: Path) -> int:
    """Return the number of utterances to speak at once, 1 to MOST, so that together they compute
    for at most LARGEST_RTF of the time.
    """
    rtf = _kept(folder).get(name, 0.0)
    return min(max(1, int(LARGEST_RTF / rtf)), MOST) if rtf > 0 else UNMEASURED


def _kept(folder: Path) -> dict[str, float]:
    speeds = read_pick(Speeds, folder / FILE)
    return {} if speeds is None else dict(speeds.rtfs)
