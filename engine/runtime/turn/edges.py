"""Write the samples of one utterance into a loudspeaker's ring, with a fade at every gap.

Invariant: audible speech neither begins nor ends inside a sound without a fade of FADE_MS, as long
as fade() follows every write.
"""

import numpy as np

from engine.audio.base import Loudspeaker, Pcm
from engine.audio.pcm import ramp

FADE_MS = 10


class Edges:
    """Owned by the speaker's thread."""

    def __init__(self, loudspeaker: Loudspeaker, *, midway: bool) -> None:
        """`midway`: the first samples continue an utterance."""
        self._loudspeaker = loudspeaker
        self._length = round(FADE_MS * loudspeaker.sample_rate / 1000)
        self._last: Pcm = np.zeros(0, np.float32)  # the last samples written, one fade long
        self._faded: Pcm | None = None  # the last samples before their fade
        self._rising = self._length if midway else 0  # samples that will still rise from silence
        self.written = 0  # samples

    def joined(self, pcm: Pcm, *, dry: bool) -> Pcm:
        """Return the samples to write, joined to the written ones without a step. `dry`: all of
        those have been played. A fade that was not played yet is undone.
        """
        faded, self._faded = self._faded, None
        back = 0 if faded is None or dry else self.take_back(len(faded))
        before = self._last[:0]
        if faded is not None and back == len(faded):
            before = faded
        elif faded is not None:
            self.write((faded * ramp(1, 0, len(faded)))[len(faded) - back :])
            self._rising = self._length
        elif dry and self.written:
            self._rising = self._length
        count = min(self._rising, len(pcm))
        gain = ramp(0, 1, self._length)[self._length - self._rising :][:count]
        self._rising -= count
        return np.concatenate((before, pcm[:count] * gain, pcm[count:]))

    def write(self, pcm: Pcm) -> int:
        """See Loudspeaker.write()."""
        count = self._loudspeaker.write(pcm)
        self.written += count
        self._last = np.concatenate((self._last, pcm[:count]))[-self._length :]
        return count

    def take_back(self, samples: int) -> int:
        """See Loudspeaker.take_back()."""
        count = self._loudspeaker.take_back(samples)
        self.written -= count
        self._last = self._last[: max(0, len(self._last) - count)]
        if self._faded is not None:
            left = max(0, len(self._faded) - count)
            self._faded = self._faded[:left] if left else None
        return count

    def fade(self) -> None:
        """Fade out the last samples, because the next ones may come too late; once."""
        if self._faded is not None:
            return
        last = self._last
        count = self.take_back(len(last))
        faded = last[len(last) - count :]
        self.write(faded * ramp(1, 0, count))
        self._faded = faded
