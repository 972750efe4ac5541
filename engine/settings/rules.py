"""What can be said of a setting beside its type and its default: a field's annotations.

Invariant: only data, in English. What a person reads in the form stands in `mark`, `Shown` or
`Help`, where `make words` finds it; it is translated where it is shown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from engine.translatable import Translatable

Value = str | int | float | bool | None  # None is allowed for speech.rate only: own pace


# ----------------------------------------------------------------- what is allowed


@dataclass(frozen=True)
class Range:
    """Lowest and highest value allowed, both included. `step`: of the form's arrows; 0 = 1, or a
    tenth where a fraction goes. `offered`: the highest that the form offers; None = all.
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
    """The words allowed, each with its label."""

    labels: Mapping[str, str]

    @classmethod
    def of(cls, **labels: str) -> "Choice":
        """Each word with its label."""
        return cls(labels)

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
class Shape:
    """Text of a shape, with the advice to give such a one."""

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


Rule = Range | Choice | Shape | Flag

SLOWEST, FASTEST = 1.0, 7.0  # SPS: the ends of the slider, and of every rate a person sets
LONGEST_TEXT = 20_000  # characters; a system prompt of several pages fits, a pasted book does not
ANY_TEXT = Shape(
    rf"(?s)[^\0]{{0,{LONGEST_TEXT}}}",
    Translatable("Give text of at most {count} characters.", count=LONGEST_TEXT),
)
CHORD = Shape(
    r"(\S(.{0,58}\S)?)?",
    Translatable("Give a key such as '{key}', or empty.", key="Ctrl+Alt+Space"),
)


# -------------------------------------------------------------------- how it is shown


class Entry(Enum):
    """How the form takes a text, where a line is not enough."""

    PARAGRAPH = auto()
    FILE = auto()
    FOLDER = auto()
    KEY = auto()  # one to hold
    CHORD = auto()  # one with its modifiers, or none
    MICROPHONE = auto()  # one of those that exist now
    LOUDSPEAKER = auto()


@dataclass(frozen=True)
class Shown:
    """A row of the form, named by `label`; a setting may have several. `only_with`: where this is
    the engine of its section, or one of these; empty = always. `advanced`: behind a button.
    `place`: the higher, the further down; else as declared. `help` comes from the Help that
    follows.
    """

    label: str
    entry: Entry | None = None  # None = as the rule says, a text on one line
    only_with: str | tuple[str, ...] = ""
    advanced: bool = False
    place: int = 0
    help: str = ""


@dataclass(frozen=True)
class Help:
    """The line of help below the row before it."""

    text: str


# ---------------------------------------------------------------- how a change acts


@dataclass(frozen=True)
class LoadedBy:
    """The engines that are loaded with this value, and so again when it changes; to the others, and
    without this, it applies while they run.
    """

    engines: tuple[str, ...]


class Reach(Enum):
    """Who is told of a change; runtime/host/preferences.py says how."""

    NOBODY = auto()  # it is read when it is used
    CONTROLS = auto()  # what is read while sound is made
    MICROPHONE = auto()
    LOUDSPEAKER = auto()
    CLEANING = auto()  # of what the microphone hears
    WAKE = auto()
    RECOGNISER = auto()
    LANGUAGE_MODEL = auto()
    SYNTHESISER = auto()
    VOICE = auto()
    HISTORY = auto()


@dataclass(frozen=True)
class Manner:
    """How one text is to be said. None = as in the settings; `out` None = through the loudspeaker.

    `voice` is a name or a file, `rate_plan` looks like "0:2,3:6" (seconds:SPS), `out` is a WAV to
    make.
    """

    voice: str | None = None
    rate_plan: str | None = None
    word_delay_ms: float = 0.0
    out: Path | None = None
