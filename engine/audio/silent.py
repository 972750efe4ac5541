"""A loudspeaker that nobody hears: it keeps the conversation's clock when no device can be opened.

Invariant: it consumes samples exactly as fast as a real device would.
"""

import time
from collections.abc import Callable

import numpy as np

from engine.audio.base import Pcm, Played

SAMPLE_RATE = 48_000  # Hz
CAPACITY_S = 2.0


class SilentLoudspeaker:
    """Plays into the void at the pace of `clock` (seconds)."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._updated = clock()
        self._written = 0
        self._played = 0.0  # samples; fractions add up
        self.gain = 1.0

    @property
    def name(self) -> str:
        return "none (silent)"

    @property
    def sample_rate(self) -> int:
        return SAMPLE_RATE

    @property
    def writable(self) -> int:
        return max(0, int(CAPACITY_S * SAMPLE_RATE) - (self._written - self.samples_played))

    @property
    def samples_written(self) -> int:
        return self._written

    @property
    def samples_played(self) -> int:
        now = self._clock()
        self._played = min(self._written, self._played + (now - self._updated) * SAMPLE_RATE)
        self._updated = now
        return int(self._played)

    @property
    def underruns(self) -> int:
        return 0

    @property
    def latency_s(self) -> float:
        return 0.0

    def write(self, pcm: Pcm) -> int:
        taken = min(len(pcm), self.writable)
        self._written += taken
        return taken

    def take_played(self) -> Played:
        """Nothing that a microphone could hear."""
        return Played(np.zeros(0, np.float32), SAMPLE_RATE, more=False)

    def expect_more(self, flag: bool) -> None:
        """Silence cannot run dry."""

    def cut(self, *, fade_ms: int = 10) -> None:
        self._written = self.samples_played

    def close(self) -> None:
        """Nothing to release."""
