"""A word on its way from the reply's text to the loudspeaker."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """One spoken word with its punctuation; [start, end) is where it stands in the reply's original
    text. `pace` is a factor on the rate while it is spoken, below 1 slower. `pause_s`:
    seconds of silence in front of it.

    Several spoken words may share one span ("$5" is spoken "five dollars").
    """

    text: str
    start: int
    end: int
    pace: float = 1.0
    pause_s: float = 0.0
