"""The section `speech` of the table of settings: see sections.py."""

from dataclasses import dataclass
from typing import Annotated

from engine.languages import SPOKEN
from engine.settings.rules import (
    FAST_LIMIT,
    FASTEST,
    SLOWEST,
    AppliesTo,
    Choice,
    Help,
    LoadedBy,
    Range,
    Shown,
)
from engine.settings.systems import ESPEAK, KOKORO, STARTER, SYSTEMS, TITLES
from engine.translatable import Translatable, mark

AUTO = "auto"  # no choice: that of the machine, or of the text
_FROM_PAPERS = tuple(system.name for system in SYSTEMS)
_VoiceElsewhere = Annotated[
    str,
    AppliesTo.VOICE,
    "Its name, where 'voice' speaks another language; empty: the first of the language.",
]


def _with_origin(name: str, title: str) -> str:
    """Return a voice model's title with its origin; no origin if its pack is made here."""
    if name in (STARTER, ESPEAK):
        return Translatable("{name} (built in)", name=title)
    return title if name in _FROM_PAPERS else Translatable("{name} (fetched)", name=title)


@dataclass(frozen=True)
class SpeechSettings:
    # espeak is the fallback if another engine cannot load
    engine: Annotated[
        str,
        Choice.of(
            auto=mark("Automatic"),
            **{name: _with_origin(name, title) for name, title in TITLES.items()},
        ),
        Shown("Voice model"),
        Help(
            "Automatic: VoXtream2 where a graphics card runs it, Kokoro where it is quick enough,"
            " else Rubato's own. VoXtream2 clones the voice of a recording; Kokoro learns that"
            " voice."
        ),
    ] = "auto"
    voice: Annotated[str, AppliesTo.VOICE, "Its name; empty: the synthesiser's default."] = ""
    language: Annotated[
        str,
        AppliesTo.NOBODY,  # applies to the next reply
        Choice.of(
            **{AUTO: mark("That of the question")},
            **{language.code: language.title for language in SPOKEN.values()},
        ),
        Shown("Language of the answers"),
        Help("Kokoro speaks these; other voices speak English only."),
    ] = AUTO
    # The voice chosen last for each language; in its own language `voice` speaks.
    voice_en: _VoiceElsewhere = ""
    voice_es: _VoiceElsewhere = ""
    voice_it: _VoiceElsewhere = ""
    voice_pt: _VoiceElsewhere = ""
    voice_fr: _VoiceElsewhere = ""
    # None = own pace (in the file: the key is absent)
    rate: Annotated[
        float | None,
        AppliesTo.CONTROLS,
        Range(SLOWEST, FAST_LIMIT),
        "Syllables per second; absent: own pace. Above 7 with fast speech only.",
    ] = None
    fast: Annotated[
        bool,
        AppliesTo.CONTROLS,
        Shown("Fast speech"),
        Help("Opens the slider to 13 syllables a second, about 540 words a minute."),
    ] = False
    pacing: Annotated[
        bool,
        AppliesTo.NOBODY,  # applies to the next reply
        Shown("Pace from content"),
        Help(
            "Slower for numbers, spelling, new names and quotations, quicker for asides; around"
            " the rate you set."
        ),
    ] = True
    seed: Annotated[
        int,
        Range(0, 2**63 - 1, offered=1_000_000),
        Shown("Seed", advanced=True, place=1),
        Help("The same seed speaks the same words the same way."),
    ] = 7
    device: Annotated[
        str,
        LoadedBy(tuple(name for name in TITLES if name not in (KOKORO, ESPEAK))),
        Choice.of(
            auto=mark("The best there is"), cuda=mark("Graphics card (CUDA)"), cpu=mark("Processor")
        ),
        Shown("Runs on", advanced=True),
    ] = "auto"

    @property
    def fastest(self) -> float:
        """The highest rate in SPS that the person can choose."""
        return FAST_LIMIT if self.fast else FASTEST
