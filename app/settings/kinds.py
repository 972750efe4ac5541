"""What a setting is on screen: its name, its kind of editor, its line of help; and pages of them.

Invariant: data only, in English; who shows it translates.
"""

from dataclasses import dataclass
from enum import Enum

from engine.api import Part

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Option:
    value: str
    label: str


@dataclass(frozen=True)
class Choice:
    """One of a few."""

    options: tuple[Option, ...]


@dataclass(frozen=True)
class Device:
    """A microphone or loudspeaker that exists now."""

    part: Part


@dataclass(frozen=True)
class Number:
    """Shown in `unit`; a float setting has decimals."""

    lowest: float
    highest: float
    step: float
    unit: str = ""
    decimals: int = 0


@dataclass(frozen=True)
class Text:
    """One line, or several."""

    lines: int = 1


class PathOf(Enum):
    """What a path setting points at."""

    FILE = "file"
    FOLDER = "folder"


@dataclass(frozen=True)
class Location:
    """A path on this machine, or text of another kind where the engine takes that."""

    of: PathOf


@dataclass(frozen=True)
class Flag:
    """On or off."""


@dataclass(frozen=True)
class KeyName:
    """A key to hold; a `chord` is one with its modifiers, or none."""

    chord: bool = False


Kind = Choice | Device | Number | Text | Location | Flag | KeyName


@dataclass(frozen=True)
class OnlyWith:
    """Shown only while another setting has this value."""

    key: str
    value: str


@dataclass(frozen=True)
class Field:
    key: str
    label: str
    kind: Kind
    help: str = ""
    only: OnlyWith | None = None  # None = always shown
    advanced: bool = False  # folded away until it is asked for


@dataclass(frozen=True)
class Page:
    title: str
    part: Part | None  # the part its status row stands for; None = no part
    fields: tuple[Field, ...]
    at_login: bool = False  # begins with the row that starts Rubato at login, which is no setting
