"""A limit on the silence within speech, for networks that sometimes pause for too long.

Invariant: the decision depends on the earlier samples, not on their time of arrival.
"""

from typing import Final

import numpy as np

from engine.audio.pcm import Pcm

# Pieces of 80 ms are omitted. The heard silence may be up to 0.3 s longer, when a piece is partly
# silent and is played at a quarter of its speed.
_LONGEST_S: Final = 0.85
# Relative to the loudest 10 ms so far: below all sounds except the softest consonants, which are
# short, and above a codec's noise in a pause.
_QUIET: Final = 10 ** (-30 / 20)


class SilenceLimit:
    """Measure the silence in one utterance."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._loudest = 0.0  # root mean square of 10 ms
        self._silent_s = 0.0  # heard since the last sound

    def exceeds(self, pcm: Pcm, speed: float = 1.0) -> bool:
        """Return whether the next samples only prolong a silence beyond the limit, so that they
        must be omitted. `speed`: the playing speed.
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
