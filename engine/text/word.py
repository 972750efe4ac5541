"""A word on its way from the reply's text to the loudspeaker."""

from dataclasses import dataclass
from typing import Final

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
