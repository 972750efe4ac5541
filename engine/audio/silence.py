"""A limit on the silence within speech, for a network that now and then waits too long.

Invariant: what is left out depends on the samples before it, not on when they came.
"""

from typing import Final

import numpy as np

from engine.audio.pcm import Pcm

# Of what is left out in pieces of 80 ms; a listener waits for up to 0.3 s longer, where a piece is
# silent in part and heard at a third of its speed.
_LONGEST_S: Final = 0.85
# Of the loudest 10 ms so far: below every sound but the softest consonants, which are short, and
# above the noise that a codec makes in a pause.
_QUIET: Final = 10 ** (-30 / 20)


class SilenceLimit:
    """Silence of one utterance."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._loudest = 0.0  # root mean square of 10 ms
        self._silent_s = 0.0  # heard since the last sound

    def exceeds(self, pcm: Pcm, speed: float = 1.0) -> bool:
        """Whether the next samples only make a silence too long, at the `speed` at which they are
        heard: then they are to be left out.
        """
        size = self._sample_rate // 100
        blocks = pcm[: len(pcm) // size * size].reshape(-1, size)
        levels = np.sqrt(np.square(blocks).mean(1))
        self._loudest = max(self._loudest, float(levels.max(initial=0.0)))
        sounding = np.flatnonzero(levels > _QUIET * self._loudest)
        silent = len(pcm) - size * (int(sounding[-1]) + 1 if len(sounding) else 0)
        silent_s = silent / self._sample_rate / speed
        if len(sounding):
            self._silent_s = silent_s
            return False
        if self._silent_s + silent_s > _LONGEST_S:
            return True
        self._silent_s += silent_s
        return False
