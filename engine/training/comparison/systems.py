"""Which systems are compared, where their packs lie, and what their papers claim.

Invariant: a plain list; nothing is loaded here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.resources import resource
from engine.settings import SpeechSettings
from engine.systems import SYSTEMS as MADE_HERE
from engine.systems import command_of
from engine.training.judge.talkers import FORMANT, MOST_VOICES, LiveTalker
from engine.training.tasks import Place
from engine.tts import packs
from engine.tts.kokoro.place import is_fetched
from engine.tts.kokoro.voices import NAME as KOKORO
from engine.tts.llmvox.published import place as llmvox
from engine.tts.roster import of_settings
from engine.tts.voices import saved_voices
from engine.tts.voxtream.files.pack import VOICES_FOLDER

SHIPPED: Final = "starter"  # a folder of the program's resources
# The recipe of VoXtream2 with the budget of the others; its corpus and speakers are theirs too.
EQUAL_BUDGET: Final = Path(__file__).parent.with_name("recipes") / "voxtream2-equal.toml"


@dataclass(frozen=True)
class System:
    """A column of the table. No comma in its name: those stand between names in `--only`.

    `pack` is a folder of the resources, or in `packs` of the data folder; empty = the program's own
    synthesiser `source`, of which so many `voices` speak. `headline` is what the paper claims,
    `expected` which part of that must show here too, `ours` what differs from the paper. `hours`
    are the core hours of training of the networks that speak. `unheard` is what is known of one
    that could not be measured where the page was made.
    """

    name: str
    pack: str = ""
    command: str = ""  # makes the pack; empty = the pack comes with the program
    hours: float | None = None
    headline: str = ""
    expected: str = ""
    ours: str = ""
    rate: str = "live"  # how it follows a rate asked for; empty = it cannot be asked
    can_clone: bool = False
    source: str = FORMANT
    voices: int = 1
    unheard: str = ""

    @property
    def folder(self) -> Path | None:
        """Where its pack lies; None = it has none."""
        if not self.pack:
            return None
        return resource(SHIPPED) if self.pack == SHIPPED else packs.folder_of(self.pack)

    @property
    def present(self) -> bool:
        """Whether it can be measured on this machine."""
        if self.folder is None and self.source == llmvox.NAME:
            return llmvox.is_fetched()
        if self.folder is None:
            return self.source != KOKORO or is_fetched()
        return (self.folder / "config.json").is_file()

    def talkers(self) -> tuple[LiveTalker, ...]:
        """Its voices."""
        if self.folder is None:
            names = of_settings(SpeechSettings(engine=self.source)).own[: self.voices]
            return tuple(LiveTalker(self.source, name) for name in names)
        names = tuple(sorted(voice.name for voice in saved_voices(self.folder / VOICES_FOLDER)))
        return tuple(LiveTalker(Place(self.folder), name) for name in names)


SYSTEMS: Final = (
    System("espeak", hours=0.0, headline="formant synthesis by rule: no network, no paper here"),
    System(
        "Kokoro",
        command="rubato models get kokoro",
        headline="82 million parameters; the published graph speaks whole sentences",
        ours="word by word, and a rate that changes inside a word",
        can_clone=True,
        source=KOKORO,
        voices=MOST_VOICES,
    ),
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
    System(
        "LLMVoX (published weights)",
        command=f"rubato models get {llmvox.NAME}",
        headline="38 million parameters and a codec of 63 million, as they were published; 3.7 % "
        "of the words wrong, 475 ms to the first sound",
        ours="windows of the codec that overlap",
        rate="",
        source=llmvox.NAME,
        unheard="LLMVoX, published weights: loads, not heard here",
    ),
)
