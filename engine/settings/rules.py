"""The annotations of a setting beside its type and its default.

Only data, in English. Texts for the user stand in `mark`, `Shown` or `Help`, where `make words`
finds them; they are translated where they are shown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from engine.translatable import Translatable

Value = str | int | float | bool | None  # None is allowed for speech.rate only: own pace
Changes = tuple[tuple[str, Value], ...]  # keys with new values


# ----------------------------------------------------------------- what is allowed


@dataclass(frozen=True)
class Range:
    """The lowest and the highest allowed value. `step`: the step of the form's arrows; 0 = 1, or a
    tenth for fractions. `offered`: the highest value in the form; None = `highest`.
    """

    lowest: float
    highest: float
    step: float = 0
    unit: str = ""
    offered: float | None = None

    def allows(self, value: Value) -> bool:
        # not-a-number compares false with everything, so it is refused here too
        return isinstance(value, int | float) and self.lowest <= value <= self.highest

    @property
    def hint(self) -> Translatable:
        return Translatable(
            "Give a number from {lowest} to {highest}.",
            lowest=f"{self.lowest:g}",
            highest=f"{self.highest:g}",
        )


@dataclass(frozen=True)
class Choice:
    """The allowed words, each with its label."""

    labels: Mapping[str, str]

    @classmethod
    def of(cls, **labels: str) -> "Choice":
        """Return a choice of these words."""
        return cls({word: Translatable(label) for word, label in labels.items()})

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.labels)

    def allows(self, value: Value) -> bool:
        return value in self.words

    @property
    def hint(self) -> Translatable:
        words = ", ".join(f"'{word}'" for word in self.words)
        return Translatable("Give one of {words}.", words=words)


@dataclass(frozen=True)
class Pattern:
    """Text that matches a pattern, with a hint for text that does not."""

    pattern: str
    hint: Translatable

    def allows(self, value: Value) -> bool:
        return isinstance(value, str) and re.fullmatch(self.pattern, value) is not None


@dataclass(frozen=True)
class Flag:
    """On or off."""

    def allows(self, value: Value) -> bool:
        return isinstance(value, bool)

    @property
    def hint(self) -> Translatable:
        return Translatable("Give true or false.")


Rule = Range | Choice | Pattern | Flag

SLOWEST, FASTEST = 1.0, 7.0  # SPS: the ends of the slider
FAST_LIMIT = 13.0  # SPS: its end with fast speech, and the limit of every rate that is asked for
WORDS_PER_SYLLABLE = 0.69  # in English text
LONGEST_TEXT = 20_000  # characters; a system prompt of several pages fits, a pasted book does not
ANY_TEXT = Pattern(
    rf"(?s)[^\0]{{0,{LONGEST_TEXT}}}",
    Translatable("Give text of at most {count} characters.", count=LONGEST_TEXT),
)
CHORD = Pattern(
    r"(\S(.{0,58}\S)?)?",
    Translatable("Give a key such as '{key}', or empty.", key="Ctrl+Alt+Space"),
)


# -------------------------------------------------------------------- how it is shown


class Entry(Enum):
    """The form's input field for a text, if it is not a single line."""

    PARAGRAPH = auto()
    FILE = auto()
    FOLDER = auto()
    KEY = auto()  # a single key
    CHORD = auto()  # a key with modifiers, or empty
    MICROPHONE = auto()  # one of the connected devices
    LOUDSPEAKER = auto()
    LANGUAGE = auto()  # one that Whisper hears


@dataclass(frozen=True)
class Shown:
    """A row of the form, named by `label`; a setting may have several. `only_with`: only with this
    engine, or one of these, in the section. `advanced`: behind the button "Advanced". `place`: rows
    with higher values are further down. `help`: the text of the Help that follows.
    """

    label: str
    entry: Entry | None = None  # None = by the rule; a text on one line
    only_with: str | tuple[str, ...] = ""
    advanced: bool = False
    place: int = 0
    help: str = ""


@dataclass(frozen=True)
class Help:
    """A line of help below the row before it."""

    text: str


# ---------------------------------------------------------------- how a change acts


@dataclass(frozen=True)
class LoadedBy:
    """The engines that reload when this setting changes; others apply it while they run."""

    engines: tuple[str, ...]


class AppliesTo(Enum):
    """The component that applies a change; see runtime/host/preferences.py."""

    NOBODY = auto()  # read when it is used
    CONTROLS = auto()  # values that are read while sound is made
    MICROPHONE = auto()
    LOUDSPEAKER = auto()
    CLEANING = auto()  # processing of the microphone's samples
    WAKE = auto()
    RECOGNISER = auto()
    LANGUAGE_MODEL = auto()
    SYNTHESISER = auto()
    VOICE = auto()
    HISTORY = auto()


@dataclass(frozen=True)
class SayOptions:
    """Options for speaking one text; None = as in the settings. `voice` is a name or a file,
    `rate_plan` looks like "0:2,3:6" (seconds:SPS), `out` is a WAV to write, `language` a code.
    """

    voice: str | None = None
    rate_plan: str | None = None
    word_delay_ms: float = 0.0
    out: Path | None = None
    language: str | None = None
