"""The rate of speech in syllables per second (SPS): the target for a word, and measured rates.

The slider sets the rate, and a word's own pace is a factor on it. Invariant: a pace never takes the
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
    """Return the target rate (SPS) of a word with this pace when `rate` is requested."""
    return min(max(rate * pace, min(rate, SLOWEST)), max(rate, FASTEST))


@dataclass
class _Stretch:
    """The syllables that ended from the sample `start` on: samples of the `first` and the `last`
    end, the `count` of all, and how many ended at the first sample (`at_first`).
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
        """Return the SPS between the first and the last end; None if there is too little speech to
        measure.
        """
        length, syllables = self.last - self.first, self.count - self.at_first
        if length < LEAST_S * sample_rate or syllables < LEAST_SYLLABLES:
            return None
        return syllables * sample_rate / length


class SyllableMeter:
    """Measures three rates: since the target changed and over the utterance, both up to the end of
    the last syllable, and in a window before now. Positions are samples or frames.
    """

    def __init__(self, sample_rate: float, window: int = 0) -> None:
        """`sample_rate`: positions a second; `window`: how many of them recent_rate() covers."""
        self.count = 0  # of all syllables
        self._sample_rate = sample_rate
        self._window = window
        self._ends: deque[int] = deque()  # of syllables that rates() has not counted yet
        self._recent_ends: deque[int] = deque()  # of syllables in the window
        self._whole, self._steady = _Stretch(), _Stretch()

    def add(self, sample: int, syllables: int = 1) -> None:
        """Add syllables that end at `sample`, in ascending order."""
        self._ends.extend([sample] * syllables)
        self._recent_ends.extend([sample] * syllables)
        while self._recent_ends and self._recent_ends[0] < sample - self._window:
            self._recent_ends.popleft()
        self.count += syllables

    def recent_rate(self, now: int) -> float | None:
        """Return the SPS in the window before sample `now`; None before the first syllable."""
        length = min(self._window, now)
        if not self.count or not length:
            return None
        ended = sum(now - length <= end < now for end in self._recent_ends)
        return ended * self._sample_rate / length

    def restart(self, sample: int) -> None:
        """Measure the rate since the change of the target from this sample on."""
        self._steady = _Stretch(sample)

    def branch(self) -> "SyllableMeter":
        """Return an independent copy that continues from this state."""
        other = copy(self)
        other._ends, other._recent_ends = self._ends.copy(), self._recent_ends.copy()
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
