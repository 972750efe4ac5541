"""The substitute for a missing loudspeaker.

Samples count as played as soon as they are written, so nothing waits for them.
"""

import numpy as np

from engine.audio.base import Pcm, Played

SAMPLE_RATE = 48_000  # Hz


class SilentLoudspeaker:
    """See Loudspeaker."""

    name = "none (silent)"
    sample_rate = SAMPLE_RATE
    underruns = 0
    latency_s = 0.0

    def __init__(self) -> None:
        self.gain = 1.0
        self.samples_written = 0

    @property
    def samples_played(self) -> int:
        return self.samples_written

    def write(self, pcm: Pcm) -> int:
        self.samples_written += len(pcm)
        return len(pcm)

    def take_played(self) -> Played:
        """Return no samples: a microphone could hear nothing."""
        return Played(np.zeros(0, np.float32), SAMPLE_RATE, more=False)

    def expect_more(self, flag: bool) -> None:
        """Silence cannot run dry."""

    def take_back(self, samples: int) -> int:
        """Remove nothing, as all samples were played at once."""
        return 0

    def cut(self, *, fade_ms: int = 10) -> None:
        """Nothing is left to be played."""

    def close(self) -> None:
        """Nothing to release."""
