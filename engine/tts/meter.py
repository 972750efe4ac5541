"""How fast speech was: syllables per second over the last seconds of it."""

from collections import deque


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
