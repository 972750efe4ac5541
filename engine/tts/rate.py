"""The rate of speech in syllables per second (SPS): the target of a word, and measured rates.

The slider's rate is the centre, the word's own pace moves it. Invariant: a pace never takes the
rate beyond the ends of the slider.
"""

from collections import deque
from copy import copy
from dataclasses import dataclass
from typing import Final

from engine.settings import FASTEST, SLOWEST

PLAIN: Final = 1.0  # the pace of most words
# The least speech whose rate is measured.
LEAST_S: Final = 1.0
LEAST_SYLLABLES: Final = 4


def paced(rate: float, pace: float) -> float:
    """The target (SPS) of a word with this pace when `rate` (SPS) is asked for."""
    return min(max(rate * pace, min(rate, SLOWEST)), max(rate, FASTEST))


@dataclass
class _Stretch:
    """Syllables that ended from the sample `start` on: the samples of the `first` and the `last`
    end, the `count` of all, and the count of those that ended at the first.
    """

    start: int = 0
    first: int = 0
    last: int = 0
    count: int = 0
    at_first: int = 0

    def add(self, sample: int) -> None:
        if sample < self.start:
            return
        if not self.count:
            self.first = sample
        self.at_first += sample == self.first
        self.count += 1
        self.last = sample

    def rate(self, sample_rate: float) -> float | None:
        """SPS between the two; None if there is too little speech to measure."""
        length, syllables = self.last - self.first, self.count - self.at_first
        if length < LEAST_S * sample_rate or syllables < LEAST_SYLLABLES:
            return None
        return syllables * sample_rate / length


class SyllableMeter:
    """The rate since it was last changed and over the utterance, without the silence behind the
    last syllable, and the rate lately. Positions are samples, or frames of any length.
    """

    def __init__(self, sample_rate: float, window: int = 0) -> None:
        """`sample_rate`: positions a second; `window`: how many of them lately() covers."""
        self.count = 0  # of all syllables
        self._sample_rate = sample_rate
        self._window = window
        self._ends: deque[int] = deque()  # of syllables that rates() has not counted yet
        self._late_ends: deque[int] = deque()  # of syllables in the window
        self._whole, self._steady = _Stretch(), _Stretch()

    def add(self, sample: int, syllables: int = 1) -> None:
        """Syllables end at `sample` of the utterance; in rising order."""
        self._ends.extend([sample] * syllables)
        self._late_ends.extend([sample] * syllables)
        while self._late_ends and self._late_ends[0] < sample - self._window:
            self._late_ends.popleft()
        self.count += syllables

    def lately(self, now: int) -> float | None:
        """Return the SPS in the window before sample `now`; None before the first syllable."""
        length = min(self._window, now)
        if not self.count or not length:
            return None
        ended = sum(now - length <= end < now for end in self._late_ends)
        return ended * self._sample_rate / length

    def restart(self, sample: int) -> None:
        """Measure a new rate from this sample on."""
        self._steady = _Stretch(sample)

    def branch(self) -> "SyllableMeter":
        """Another one that counts on from here."""
        other = copy(self)
        other._ends, other._late_ends = self._ends.copy(), self._late_ends.copy()
        other._whole, other._steady = copy(self._whole), copy(self._steady)
        return other

    def rates(self, now: int) -> tuple[float | None, float | None]:
        """Return the SPS of all syllables that ended by sample `now`: since the rate changed, and
        over the utterance; None if there is too little speech. `now` must not fall.
        """
        while self._ends and self._ends[0] <= now:
            end = self._ends.popleft()
            self._whole.add(end)
            self._steady.add(end)
        return self._steady.rate(self._sample_rate), self._whole.rate(self._sample_rate)
