"""A limit on the level of an utterance: loud passages are attenuated, not clipped.

Invariant: samples depend on the samples before them, not on how those were divided into frames. No
sample is above LIMIT, and a sound that stays below it is left as it is.
"""

from typing import Final

import numpy as np

from engine.audio.pcm import Pcm

LIMIT: Final = 10 ** (-1 / 20)  # -1 dB full scale
_RECOVERY_DB: Final = 40.0  # per second, after a sample that was too loud
_REMEMBERED_S: Final = 10  # longer than any session rewinds


class Limiter:
    """Limiter of one utterance. Its gain falls at once and recovers linearly in decibels."""

    def __init__(self, sample_rate: int) -> None:
        self._remembered = _REMEMBERED_S * sample_rate
        self._recovery = np.log(10) * _RECOVERY_DB / 20 / sample_rate  # nepers a sample
        # Positions in the utterance at which the gain fell, and the logarithm of the gain there
        # minus the recovery between the first sample and that position; both in order.
        self._falls: list[tuple[int, float]] = []

    def limit(self, pcm: Pcm, sample: int) -> Pcm:
        """Return the limited samples. `sample` is the position of the first one in the utterance;
        peaks noted from there on in earlier calls are forgotten. NaN becomes silence.
        """
        while self._falls and self._falls[-1][0] >= sample:
            self._falls.pop()
        held = self._falls[-1][1] if self._falls else np.inf
        peaks = np.abs(pcm, dtype=np.float64)
        if peaks.max(initial=0.0) <= LIMIT and held + self._recovery * sample >= 0:
            return pcm
        pcm = np.nan_to_num(pcm, nan=0.0)
        peaks = np.maximum(np.abs(pcm, dtype=np.float64), LIMIT)
        recovered = self._recovery * np.arange(sample, sample + len(pcm))
        wanted = np.where(peaks > LIMIT, np.log(LIMIT / peaks) - recovered, np.inf)
        least = np.minimum(np.minimum.accumulate(wanted), held)
        for place in np.flatnonzero(least < np.concatenate([[held], least[:-1]])):
            self._falls.append((sample + int(place), float(least[place])))
        while len(self._falls) > 1 and self._falls[0][0] < sample - self._remembered:
            del self._falls[0]
        limited: Pcm = (pcm * np.exp(np.minimum(0.0, least + recovered))).astype(np.float32)
        return limited.clip(-LIMIT, LIMIT)
