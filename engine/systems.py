"""The synthesisers of the papers, but for VoXtream2: small packs of some come with the program, and
all can be trained on this machine.

The one table of them. A row here makes a system known to settings, window, `rubato models`,
`doctor`, `bench` and `compare`; its code is one folder, `engine/tts/<name>`.
Invariant: imports nothing of the program, so that every part of it can use this table.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class System:
    """`name` is that of the synthesiser, of its recipe in `engine/training/recipes` and of its
    pack's folder. `core_hours` is how long one core trains its networks (SpeakStream's and SMLLE's
    are estimates from the time of a step); the corpus, its codes and its vocoder take more.
    `headline` is the result its paper gives, `expected` what of it should also be seen here,
    `ours` what differs from the paper. `module` has the load() that reads its pack.
    """

    name: str
    title: str
    core_hours: float
    headline: str
    expected: str
    ours: str
    rate: str = ""  # how it follows the speaking rate; empty = it has no control of it
    can_clone: bool = False
    other_module: str = ""  # than that of its folder

    @property
    def module(self) -> str:
        return self.other_module or f"engine.tts.{self.name}.synthesiser"

    @property
    def command(self) -> str:
        """The command that makes its pack and puts it where the program looks for it."""
        return command_of(self.name)


def command_of(recipe: str) -> str:
    """The command that trains a recipe of ours and puts the pack where the program looks for it."""
    return f"python -m engine.training all engine/training/recipes/{recipe}.toml --install"


SYSTEMS: Final[tuple[System, ...]] = (
    System(
        "voxtream",
        "VoXtream",
        core_hours=0.6,
        headline="begins at the first word: 102 ms to the first packet, RTF 0.17 on a GPU; 3.15 % "
        "of the words wrong word by word, 2.99 % with all text known; no rate control",
        expected="the earliest sound of all; word by word costs at most a tenth more words wrong",
        ours="the small codec, its decoder of pulses and the small speaker encoder",
        other_module="engine.tts.voxtream.voxtream1.synthesiser",
    ),
    System(
        "speakstream",
        "SpeakStream",
        core_hours=3.4,
        headline="3.38 % of the words wrong with 5 words known, 7.47 % with one, 3.28 % with all "
        "text; 45 ms to the first sound; no rate control",
        expected="words wrong fall with the words known and level off; m = n is worst",
        ours="the vector of the speaker, the rate by stretching the spectrum, one network for all "
        "windows, phones instead of characters, a pre-net for what was said, a head guided to the "
        "phones, the median length of a word as its end, the vocoder of pulses",
        rate="ours: the spectrum is stretched",
        can_clone=True,
    ),
    System(
        "llmvox",
        "LLMVoX",
        core_hours=1.0,
        headline="3.7 % of the words wrong, 475 ms to the first sound with hearing and a language "
        "model of 8 billion parameters; larger first chunks sound better; no rate control",
        expected="the least code; it runs dry first, for an open sentence has one token a unit",
        ours="the vector of the speaker, phones by default, 50 tokens a second, a label for the "
        "end, beginnings of words by a head of their own, a pre-net for the token before, a head "
        "guided to the phones, draws at a temperature, the vocoder of pulses",
        can_clone=True,
    ),
    System(
        "smlle",
        "SMLLE",
        core_hours=2.2,
        headline="6.4 % of the words wrong frame by frame, 1.7 % with the best of five draws; no "
        "rate control",
        expected="the second draw gains most; the mechanism on the prompt harms; flux and latents "
        "are needed",
        ours="the vector of the speaker, prompts without text, tokens taught by phones, a band "
        "around the known alignment, waits drawn apart from the tokens, the rate by a bias on the "
        "blank, the vocoder of pulses",
        rate="ours: a bias on the blank",
        can_clone=True,
    ),
)


def find(name: str) -> System | None:
    """The system of this name; None = there is none."""
    return next((system for system in SYSTEMS if system.name == name), None)
