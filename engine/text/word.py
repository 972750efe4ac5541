"""The value that travels from the reply's text to the loudspeaker."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """One spoken word with its punctuation; [start, end) is where it stands in the reply's original
    text.

    Several spoken words may share one span ("$5" is spoken "five dollars").
    """

    text: str
    start: int
    end: int
