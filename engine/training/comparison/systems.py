"""The systems to compare, with their packs and the claims of their papers.

Invariant: a plain list; nothing is loaded here.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from engine.errors import ModelError
from engine.nn import stored_weights
from engine.settings import SpeechSettings
from engine.systems import SYSTEMS as PAPERS
from engine.training.evaluation.voices import FORMANT, LiveVoice, voices_of
from engine.tts import packs
from engine.tts.kokoro.voices import NAME as KOKORO
from engine.tts.llmvox.published.paths import NAME as PUBLISHED
from engine.tts.voice_catalogue import of_settings
from engine.tts.voxtream.files.paths import NAME as STARTER
from engine.tts.voxtream.files.paths import pack_folder

MOST_VOICES: Final = 2  # of a system
BUILT_IN: Final = "VoXtream2 (built in)"


@dataclass(frozen=True)
class System:
    """A system to measure, one column of the table. Its name has no comma, because commas separate
    the names in `--only`.

    `source` is the name of the program's synthesiser. `hours` are the core hours of training of the
    networks that speak; None = not trained here. `headline` is the paper's claim, `expected` the
    part of it that must show here too, `ours` what differs from the paper. `remark` is printed
    instead of "not measured".
    """

    name: str
    source: str
    hours: float | None = None
    headline: str = ""
    expected: str = ""
    ours: str = ""
    rate: str = "live"  # how it follows a rate asked for; empty = it cannot be asked
    remark: str = ""

    @property
    def folder(self) -> Path | None:
        """The folder of the system's pack; None if this machine has none."""
        return pack_folder() if self.source == STARTER else packs.find(self.source)

    @property
    def present(self) -> bool:
        """True if the system can be measured on this machine."""
        try:
            return bool(of_settings(SpeechSettings(engine=self.source)))
        except ModelError:
            return False

    def voices(self) -> tuple[LiveVoice, ...]:
        """Return the system's first voices, at most MOST_VOICES."""
        most = 1 if self.source == FORMANT else MOST_VOICES  # its voices differ in pitch alone
        return voices_of(str(self.folder or self.source), most=most)

    @cached_property
    def extent(self) -> tuple[float | None, float | None]:
        """Return the millions of parameters and the megabytes of the system's pack; None without a
        pack.
        """
        if (folder := self.folder) is None:
            return None, None
        tensors = [stored_weights.load(file) for file in folder.glob("*.safetensors")]
        parameters = sum(tensor.numel() for file in tensors for tensor in file.values())
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        return parameters / 1e6, size / 1024**2


SYSTEMS: Final = (
    System(
        BUILT_IN,
        STARTER,
        hours=10.0,
        headline="74 ms to the first packet, 4 x real time on a GPU; a rate that changes live",
        expected="the least error of the rate; about 2 words before sound",
        ours="the small codec, its decoder of pulses and the small speaker encoder",
    ),
    *(
        System(
            each.title,
            each.name,
            each.core_hours,
            each.headline,
            each.expected,
            each.ours,
            rate=each.rate,
        )
        for each in PAPERS
    ),
    System(
        "LLMVoX (published weights)",
        PUBLISHED,
        headline="38 million parameters and a codec of 63 million, as they were published; 3.7 % "
        "of the words wrong, 475 ms to the first sound",
        ours="windows of the codec that overlap",
        rate="",
        remark="loads, not heard here",
    ),
    System(
        "espeak",
        FORMANT,
        hours=0.0,
        headline="formant synthesis by rule: no network, no paper here",
    ),
    System(
        "Kokoro",
        KOKORO,
        headline="82 million parameters; the published graph speaks whole sentences",
        ours="word by word, and a rate that changes inside a word",
    ),
)
