"""What rate a word is spoken at: the slider's is the centre, the word's own pace moves it.

Invariant: a pace never takes the rate beyond the ends of the slider.
"""

from typing import Final

from engine.settings import FASTEST, SLOWEST

PLAIN: Final = 1.0  # the pace of most words


def paced(rate: float, pace: float) -> float:
    """The target (SPS) of a word with this pace when `rate` (SPS) is asked for."""
    return min(max(rate * pace, min(rate, SLOWEST)), max(rate, FASTEST))
