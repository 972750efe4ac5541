"""The rate of speech in syllables per second (SPS): what a word is spoken at, and what the last
seconds of speech had.

The slider's rate is the centre, the word's own pace moves it. Invariant: a pace never takes the
rate beyond the ends of the slider.
"""

from collections import deque
from typing import Final

from engine.settings import FASTEST, SLOWEST

PLAIN: Final = 1.0  # the pace of most words
WINDOW_S: Final = 3


def paced(rate: float, pace: float) -> float:
    """The target (SPS) of a word with this pace when `rate` (SPS) is asked for."""
    return min(max(rate * pace, min(rate, SLOWEST)), max(rate, FASTEST))


class RateMeter:
    """Syllables per second over the last `window` frames of speech."""

    def __init__(self, window: int, frame_ms: int) -> None:
        self._ended: deque[tuple[int, float]] = deque()  # syllables, milliseconds
        self._window = window
        self._frame_ms = frame_ms
        self._any = False

    def observe(self, syllables: int, speed: float = 1.0) -> float | None:
        """Count a frame in which `syllables` ended, heard at a speed; the rate now. None before the
        first syllable has ended."""
        self._ended.append((syllables, self._frame_ms / speed))
        if len(self._ended) > self._window:
            self._ended.popleft()
        self._any = self._any or syllables > 0
        if not self._any:
            return None
        counts, times = zip(*self._ended, strict=True)
        return float(sum(counts) * 1000 / sum(times))


class SyllableMeter:
    """Counts syllables: all (`count`), and those of the last 3 s (`rate`); places are samples."""

    def __init__(self, sample_rate: int) -> None:
        self.count = 0
        self._sample_rate = sample_rate  # Hz
        self._ends: deque[int] = deque()

    def add(self, sample: int) -> None:
        """A syllable ends at `sample` of the utterance; in rising order."""
        self._ends.append(sample)
        self.count += 1

    def branch(self) -> "SyllableMeter":
        """Another one that counts on from here."""
        other = SyllableMeter(self._sample_rate)
        other.count, other._ends = self.count, self._ends.copy()
        return other

    def rate(self, now: int) -> float | None:
        """SPS over the 3 s before sample `now`; None before the first syllable ended."""
        window = WINDOW_S * self._sample_rate
        while self._ends and self._ends[0] <= now - window:
            self._ends.popleft()
        ended = sum(end <= now for end in self._ends)
        return ended * self._sample_rate / min(now, window) if ended else None
