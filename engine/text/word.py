"""Stretches of text and spoken words, with their places in the reply.

Invariant: `text` and `places` of a piece have the same length and the places never decrease,
however often parts were removed or replaced.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Piece:
    """`places[i]` is the offset in the reply of the character that became `text[i]`."""

    text: str
    places: tuple[int, ...]

    @classmethod
    def at(cls, text: str, start: int) -> "Piece":
        return cls(text, tuple(range(start, start + len(text))))

    @property
    def start(self) -> int:
        return self.places[0]

    @property
    def end(self) -> int:
        return self.places[-1] + 1

    def cut(self, begin: int, end: int | None = None) -> "Piece":
        return Piece(self.text[begin:end], self.places[begin:end])

    def replace(
        self, pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str]
    ) -> "Piece":
        """Replace every match. New characters get the places of those that they replace."""
        if not pattern.search(self.text):
            return self
        text: list[str] = []
        places: list[int] = []
        position = 0
        for match in pattern.finditer(self.text):
            text.append(self.text[position : match.start()])
            places.extend(self.places[position : match.start()])
            new = replacement if isinstance(replacement, str) else replacement(match)
            old = self.places[match.start() : match.end()]
            text.append(new)
            places.extend(old[min(i, len(old) - 1)] for i in range(len(new)) if old)
            position = match.end()
        text.append(self.text[position:])
        places.extend(self.places[position:])
        return Piece("".join(text), tuple(places))

    def split(self) -> "list[Piece]":
        """Return the parts between white space."""
        return [self.cut(*match.span()) for match in re.finditer(r"\S+", self.text)]


PHONES: Final = "\u2016"
"""The sign between the letters of a word for the voice and its phones; no written text keeps it."""


@dataclass(frozen=True)
class Word:
    """One spoken word with its punctuation; [start, end) is where it stands in the reply's original
    text. `pace` is a factor on the rate while it is spoken, below 1 slower. `pause_s`:
    seconds of silence in front of it. `said`: what the voice gets if the person has taught another
    sound; see names.

    Several spoken words may share one span ("$5" is spoken "five dollars").
    """

    text: str
    start: int
    end: int
    pace: float = 1.0
    pause_s: float = 0.0
    said: str = ""

    @property
    def spoken(self) -> str:
        """The word as the voice gets it."""
        return self.said or self.text.replace(PHONES, "") or "-"
