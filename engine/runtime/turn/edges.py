"""What one utterance writes into a loudspeaker's ring, faded where it stops and where it goes on.

Invariant: nothing that is heard begins or ends inside a sound without a fade of FADE_MS, as long as
fade() is called in time.
"""

import numpy as np

from engine.audio.base import Loudspeaker, Pcm
from engine.audio.pcm import ramp

FADE_MS = 10


class Edges:
    """Belongs to the speaker's thread."""

    def __init__(self, loudspeaker: Loudspeaker, *, midway: bool) -> None:
        """`midway`: what comes first goes on inside an utterance."""
        self._loudspeaker = loudspeaker
        self._length = round(FADE_MS * loudspeaker.sample_rate / 1000)
        self._last: Pcm = np.zeros(0, np.float32)  # written, as much as a fade needs
        self._faded: Pcm | None = None  # the end of what was written, as it was before its fade
        self._rising = self._length if midway else 0  # samples that will still rise from silence
        self.written = 0  # samples

    @property
    def faded(self) -> bool:
        """Whether what was written ends in a fade."""
        return self._faded is not None

    def joined(self, pcm: Pcm, *, dry: bool) -> Pcm:
        """What is to be written, so that it fits what was: `dry` if all of that was played. A fade
        that was not played yet is taken back.
        """
        faded, self._faded = self._faded, None
        if faded is not None:
            count = 0 if dry else self.take_back(len(faded))
            if count == len(faded):
                return np.concatenate((faded, pcm))
            self.write((faded * ramp(1, 0, len(faded)))[len(faded) - count :])
        if faded is not None or (dry and self.written):
            self._rising = self._length
        count = min(self._rising, len(pcm))
        gain = ramp(0, 1, self._length)[self._length - self._rising :][:count]
        self._rising -= count
        return np.concatenate((pcm[:count] * gain, pcm[count:])) if count else pcm

    def write(self, pcm: Pcm) -> int:
        """As Loudspeaker says."""
        count = self._loudspeaker.write(pcm)
        self.written += count
        self._last = np.concatenate((self._last, pcm[:count]))[-self._length :]
        return count

    def take_back(self, samples: int) -> int:
        """As Loudspeaker says."""
        count = self._loudspeaker.take_back(samples)
        self.written -= count
        self._last = self._last[: max(0, len(self._last) - count)]
        if self._faded is not None:
            left = max(0, len(self._faded) - count)
            self._faded = self._faded[:left] if left else None
        return count

    def fade(self) -> None:
        """Let the end of what was written die away, because nothing may follow it in time."""
        last = self._last
        count = self.take_back(len(last))
        faded = last[len(last) - count :]
        self.write(faded * ramp(1, 0, count))
        self._faded = faded
