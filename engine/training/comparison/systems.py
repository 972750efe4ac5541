"""Which systems are compared, where their packs lie, and what their papers claim.

Invariant: a plain list; nothing is loaded here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.resources import resource
from engine.systems import SYSTEMS as MADE_HERE
from engine.systems import command_of
from engine.training.judge.talkers import FORMANT, LiveTalker, RepeatedTalker
from engine.training.tasks import Place
from engine.tts import packs
from engine.tts.espeak.voices import VOICES
from engine.tts.voices import saved_voices
from engine.tts.voxtream.files.pack import VOICES_FOLDER

SHIPPED: Final = "starter"  # a folder of the program's resources
# The recipe of VoXtream2 with the budget of the others; its corpus and speakers are theirs too.
EQUAL_BUDGET: Final = Path(__file__).parent.with_name("recipes") / "voxtream2-equal.toml"


@dataclass(frozen=True)
class System:
    """A column of the table. No comma in its name: those stand between names in `--only`.

    `pack` is a folder of the resources, or in `packs` of the data folder; empty = espeak, which
    needs none. `headline` is what the paper claims, `expected` which part of that must show here
    too, `ours` what differs from the paper. `hours` are the core hours of training of the networks
    that speak.
    """

    name: str
    pack: str = ""
    command: str = ""  # makes the pack; empty = the pack comes with the program
    hours: float | None = None
    headline: str = ""
    expected: str = ""
    ours: str = ""
    draws: int = 1  # of every sentence; the judge keeps the best
    rate: str = "live"  # how it follows a rate asked for; empty = it cannot be asked
    can_clone: bool = False
    is_variant: bool = False  # one part of a system, otherwise or not at all: fewer rows

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

    def talkers(self) -> tuple[LiveTalker, ...]:
        """Its voices."""
        if self.folder is None:
            return (LiveTalker(FORMANT, VOICES[0].name),)
        names = sorted(voice.name for voice in saved_voices(self.folder / VOICES_FOLDER))
        if self.draws > 1:
            return tuple(RepeatedTalker(Place(self.folder), name, self.draws) for name in names)
        return tuple(LiveTalker(Place(self.folder), name) for name in names)


_SECOND_TRAINING: Final = 1.3  # core hours, of two of SMLLE's variants: the first's packs were lost

_OF_SPEAKSTREAM: Final = tuple(
    System(
        f"SpeakStream (window of {window})",
        pack=f"speakstream-{window}",
        headline=f"{wrong} % of the words wrong",
        ours=f"one network for all windows{again}",
    )
    for window, wrong, again in (
        (1, "7.47", ""),
        (2, "4.50", "; a second training, of as many steps as that of the columns beside it"),
        (4, "3.88", ""),
    )
)
_OF_SMLLE: Final = (
    System(
        "SMLLE (best of two draws)",
        pack="smlle",
        headline="the best of five draws: 1.7 % of the words wrong for 6.4 % of one; most of that "
        "comes with the second",
        expected="clearly fewer words wrong than of one draw",
        ours="the judge of this table chooses, as the paper's does: no session can",
        draws=2,
    ),
    System(
        "SMLLE (best of five draws)",
        pack="smlle",
        headline="1.7 % of the words wrong for 6.4 % of one draw",
        expected="less gained over two draws than two gain over one",
        ours="a second training, shorter than that of the columns beside it: its recipe tells both",
        draws=5,
        hours=_SECOND_TRAINING,
    ),
    System(
        "SMLLE (mechanism on the prompt too)",
        pack="smlle-prompt-mechanism",
        headline="13.3 % of the words wrong for 6.4 %",
        expected="more words wrong than without",
    ),
    System(
        "SMLLE without the mechanism",
        pack="smlle-no-mechanism",
        headline="not reported: the mechanism is said to make speech steadier",
        ours="a second training, shorter than that of the columns beside it: its recipe tells both",
        hours=_SECOND_TRAINING,
    ),
    System(
        "SMLLE without flux",
        pack="smlle-no-flux",
        headline="MELLE without sampling and flux: 23.2 % of the words wrong, with both 1.5 %",
        expected="more words wrong than with it",
    ),
    System(
        "SMLLE without latents",
        pack="smlle-no-latents",
        headline="MELLE without sampling and flux: 23.2 % of the words wrong, with both 1.5 %",
        expected="more words wrong than with them",
    ),
    System(
        "SMLLE (latents not drawn)",
        pack="smlle-means",
        headline="not reported",
        ours="learnt with latents, spoken with their means",
    ),
)


def _variants(name: str, systems: tuple[System, ...]) -> Iterator[System]:
    """Variants of the system of this name, which take its rate, and its hours unless they have some
    of their own.
    """
    whole = next(each for each in MADE_HERE if each.name == name)
    stage = f"python -m engine.training variants engine/training/recipes/{name}.toml"
    for each in systems:
        command = whole.command if each.pack == name else stage
        hours = whole.core_hours if each.hours is None else each.hours
        yield replace(each, command=command, hours=hours, rate=whole.rate, is_variant=True)


# One part of a system otherwise: columns of their own, beside the system itself.
VARIANTS: Final = (*_variants("speakstream", _OF_SPEAKSTREAM), *_variants("smlle", _OF_SMLLE))

SYSTEMS: Final = (
    System("espeak", hours=0.0, headline="formant synthesis by rule: no network, no paper here"),
    System(
        "VoXtream2 (shipped)",
        pack=SHIPPED,
        hours=10.0,
        headline="74 ms to the first packet, 4 x real time on a GPU; a rate that changes live",
        expected="the least error of the rate; about 2 words before sound",
        ours="the small codec, its decoder of pulses and the small speaker encoder",
        can_clone=True,
    ),
    System(
        "VoXtream2 (equal budget)",
        pack=EQUAL_BUDGET.stem,
        command=command_of(EQUAL_BUDGET.stem),
        hours=0.6,
        headline="as above; with the budget and corpus of the systems beside it",
        ours="as above; codec and speaker encoder are those of the shipped one",
        can_clone=True,
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
            rate=each.rate,
            can_clone=each.can_clone,
        )
        for each in MADE_HERE
    ),
    *VARIANTS,
)
