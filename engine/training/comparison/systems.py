"""Which systems are compared, where their packs lie, and what their papers claim.

Invariant: a plain list; nothing is loaded here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.resources import resource
from engine.systems import SYSTEMS as MADE_HERE
from engine.training.judge.talkers import FormantTalker, PackTalker, SessionTalker
from engine.training.tasks import Place
from engine.tts import packs
from engine.tts.voices import saved_voices
from engine.tts.voxtream.files.pack import VOICES_FOLDER

SHIPPED: Final = "starter"  # a folder of the program's resources


@dataclass(frozen=True)
class System:
    """A column of the table.

    `pack` is a folder of the resources, or in `packs` of the data folder; empty = espeak, which
    needs none. `headline` is what the paper claims, `expected` which part of that must show here
    too, `ours` what differs from the paper. `hours` are the core hours of training of the networks.
    """

    name: str
    pack: str = ""
    command: str = ""  # makes the pack; empty = the pack comes with the program
    hours: float | None = None
    headline: str = ""
    expected: str = ""
    ours: str = ""

    @property
    def folder(self) -> Path | None:
        """Where its pack lies; None = it has none."""
        if not self.pack:
            return None
        return resource(SHIPPED) if self.pack == SHIPPED else packs.folder_of(self.pack)

    @property
    def present(self) -> bool:
        """Whether it can be measured on this machine."""
        return self.folder is None or (self.folder / "config.json").is_file()

    def talkers(self) -> tuple[SessionTalker, ...]:
        """Its voices."""
        if self.folder is None:
            return (FormantTalker(),)
        names = sorted(voice.name for voice in saved_voices(self.folder / VOICES_FOLDER))
        return tuple(PackTalker(Place(self.folder), name) for name in names)


SYSTEMS: Final = (
    System("espeak", hours=0.0, headline="formant synthesis by rule: no network, no paper here"),
    System(
        "VoXtream2, shipped",
        pack=SHIPPED,
        hours=10.0,
        headline="74 ms to the first packet, 4 x real time on a GPU; a rate that changes live",
        expected="the least error of the rate; about 2 words before sound",
        ours="the small codec, its decoder of pulses and the small speaker encoder",
    ),
    *(
        System(
            each.title,
            each.name,
            each.command,
            each.core_hours,
            each.headline,
            each.expected,
            each.ours,
        )
        for each in MADE_HERE
    ),
)
