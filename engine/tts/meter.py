"""How fast speech was: syllables per second over the last seconds of it."""

from collections import deque
from typing import Final

PATIENCE: Final = 6.0  # syllables of a drift that are put down to chance


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


class RateDrift:
    """By how much speech of the last `window` frames was slower than was asked of it."""

    def __init__(self, window: int, frame_ms: int) -> None:
        self._frames: deque[tuple[float, int]] = deque(maxlen=window)  # syllables asked, spoken
        self._frame_s = frame_ms / 1000
        self._begun = False  # silence before the first syllable is no drift

    def observe(self, asked: float, syllables: int) -> None:
        """Count a frame in which `syllables` ended and `asked` SPS were asked for."""
        if self._begun:
            self._frames.append((asked * self._frame_s, syllables))
        self._begun = self._begun or syllables > 0

    @property
    def slowness(self) -> float:
        """What the speech should be sped up by, 1 = nothing."""
        asked = sum(frame[0] for frame in self._frames)
        spoken = sum(frame[1] for frame in self._frames)
        return (asked + PATIENCE) / (spoken + PATIENCE)
