"""How a setting is shown: its name, its kind of editor, its line of help; and pages of settings.

Invariant: only data, in English; the code that shows it translates it.
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
    """One of a few options."""

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
    """What a path setting refers to."""

    FILE = "file"
    FOLDER = "folder"


@dataclass(frozen=True)
class Location:
    """A path on this machine, or another text if the engine accepts that."""

    of: PathOf


@dataclass(frozen=True)
class Flag:
    """On or off."""


@dataclass(frozen=True)
class KeyName:
    """A key to hold; a `chord` is a key with its modifiers, or none."""

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
    advanced: bool = False  # hidden behind a button


@dataclass(frozen=True)
class Page:
    title: str
    part: Part | None  # the part whose status row opens this page; None = no part
    fields: tuple[Field, ...]
    # Begins with the row that starts Rubato at login, which is not a setting.
    at_login: bool = False
    # Ends with the part that teaches the wake phrase, which is none either.
    teaches: bool = False
