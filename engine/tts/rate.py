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
LEAST_SYLLABLES: Final = 2


def paced(rate: float, pace: float) -> float:
    """Return the target rate (SPS) of a word with this pace when `rate` is requested."""
    return min(max(rate * pace, min(rate, SLOWEST)), max(rate, FASTEST))


@dataclass(frozen=True)
class _Syllables:
    """Syllables that follow each other evenly from one sample to another."""

    begin: int
    end: int
    count: int


@dataclass
class _Stretch:
    """The speech from the sample `start` on (None = from its first sound) up to the `end` of its
    sound: the `count` of its syllables, of which the first and the last may be parts.
    """

    start: int | None = None
    end: int = 0
    count: float = 0.0

    def add(self, said: _Syllables, now: int) -> None:
        """Add the part of some syllables that sounds from the start to the sample `now`."""
        begin, end = max(said.begin, self.start or 0), min(said.end, now)
        if begin < end:
            self.start = begin if self.start is None else self.start
            self.count += said.count * (end - begin) / (said.end - said.begin)
            self.end = end

    def rate(self, sample_rate: float) -> float | None:
        """Return the SPS; None if there is too little speech to measure."""
        length = self.end - (self.start or 0)
        if length < LEAST_S * sample_rate or self.count < LEAST_SYLLABLES:
            return None
        return self.count * sample_rate / length


class SyllableMeter:
    """Measures three rates: since the target changed and over the utterance, both up to the end of
    the sound, and in a window before now. Positions are samples or frames.
    """

    def __init__(self, sample_rate: float, window: int = 0) -> None:
        """`sample_rate`: positions a second; `window`: how many of them recent_rate() covers."""
        self.count = 0  # of all syllables
        self._sample_rate = sample_rate
        self._window = window
        self._words: list[int] = []  # beginnings behind the last syllable
        self._end = 0  # of the last syllable
        self._expected = 0  # end of the one after it, if that has begun; else 0
        self._unheard: deque[_Syllables] = deque()  # rates() has not counted them entirely
        self._recent_ends: deque[int] = deque()  # of syllables in the window
        self._whole, self._steady = _Stretch(), _Stretch()

    def begin_word(self, sample: int) -> None:
        """A word begins: its first syllable does not include the silence before it."""
        self._words.append(sample)

    def add(self, sample: int, syllables: int = 1) -> None:
        """Add syllables that end at `sample`, in ascending order."""
        if not syllables:
            return
        self._unheard.append(self._next(sample, syllables))
        self._words = [word for word in self._words if word >= sample]
        self._end, self._expected = sample, 0
        self._recent_ends.extend([sample] * syllables)
        while self._recent_ends[0] < sample - self._window:
            self._recent_ends.popleft()
        self.count += syllables

    def expect(self, sample: int) -> None:
        """The next syllable has begun and will probably end at `sample`; add() follows."""
        self._expected = sample

    def _next(self, end: int, count: int = 1) -> _Syllables:
        begin = max([self._end, *(word for word in self._words if word < end)])
        return _Syllables(min(begin, end - 1), end, count)

    def recent_rate(self, now: int) -> float | None:
        """Return the SPS in the window before sample `now`; None before the first syllable."""
        length = min(self._window, now)
        if not self.count or not length:
            return None
        ended = sum(now - length <= end < now for end in self._recent_ends)
        return ended * self._sample_rate / length

    def restart(self, sample: int) -> None:
        """Measure the rate since the change of the target from this sample on, also a pause there;
        the silence before the first word does not count.
        """
        self._steady = _Stretch(sample if self.count else None)

    def branch(self) -> "SyllableMeter":
        """Return an independent copy that continues from this state."""
        other = copy(self)
        other._words, other._unheard = self._words.copy(), self._unheard.copy()
        other._recent_ends = self._recent_ends.copy()
        other._whole, other._steady = copy(self._whole), copy(self._steady)
        return other

    def rates(self, now: int) -> tuple[float | None, float | None]:
        """Return the SPS up to sample `now`: since the rate changed, and over the utterance; None
        if there is too little speech. `now` must not fall.
        """
        while self._unheard and self._unheard[0].end <= now:
            said = self._unheard.popleft()
            self._whole.add(said, now)
            self._steady.add(said, now)
        whole, steady = copy(self._whole), copy(self._steady)
        if self._unheard or self._expected:
            said = self._unheard[0] if self._unheard else self._next(self._expected)
            whole.add(said, now)
            steady.add(said, now)
        return steady.rate(self._sample_rate), whole.rate(self._sample_rate)
