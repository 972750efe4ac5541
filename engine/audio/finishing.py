"""The finish of an utterance: fades at its beginning and end, a limit on its level (loud passages
are attenuated, not clipped), and a limit on the silence within it, for networks that sometimes
pause for too long.

Invariants: the first sample and the last SILENT_MS are silence, whatever a network generates. The
effect of a limit depends on the samples before, not on how those were divided into frames nor on
their time of arrival. No limited sample is above LIMIT, and a sound that stays below it is left as
it is.
"""

from typing import Final

import numpy as np

from engine.audio.pcm import Pcm

SILENT_MS: Final = 10
_RISE_MS: Final = 5
_FADE_MS: Final = 40  # for a network that stops in a vowel, or begins an unwanted sound

LIMIT: Final = 10 ** (-1 / 20)  # -1 dB full scale
_RECOVERY_DB: Final = 40.0  # per second, after a sample that was too loud
_REMEMBERED_S: Final = 10  # longer than any session rewinds

# Pieces of 80 ms are omitted. The heard silence may be up to 0.3 s longer, when a piece is partly
# silent and is played at a quarter of its speed.
_LONGEST_S: Final = 0.85
# Relative to the loudest 10 ms so far: below all sounds except the softest consonants, which are
# short, and above a codec's noise in a pause.
_QUIET: Final = 10 ** (-30 / 20)


def faded_in(pcm: Pcm, sample_rate: int, sample: int) -> Pcm:
    """Fade in samples at the beginning of an utterance; the first one is at position `sample`."""
    rise = sample_rate * _RISE_MS // 1000
    if sample >= rise:
        return pcm
    gain = np.arange(sample, sample + len(pcm), dtype=np.float32) / rise
    return pcm * np.minimum(gain, 1.0)


def faded_out(pcm: Pcm, sample_rate: int) -> Pcm:
    """Return the samples with a fade to silence at their end."""
    silent = min(len(pcm), sample_rate * SILENT_MS // 1000)
    fade = min(len(pcm) - silent, sample_rate * _FADE_MS // 1000)
    gain = np.ones(len(pcm), np.float32)
    gain[len(pcm) - silent - fade : len(pcm) - silent] = _fade_gain(fade)
    gain[len(pcm) - silent :] = 0
    return pcm * gain


class Ending:
    """The end of an utterance for a network that does not know its last sample in advance."""

    def __init__(self, sample_rate: int) -> None:
        self._fade = sample_rate * _FADE_MS // 1000
        self._silent = sample_rate * SILENT_MS // 1000
        self._heard: Pcm = np.zeros(0, np.float32)

    def hear(self, pcm: Pcm) -> None:
        """Remember samples that are played next."""
        self._heard = np.concatenate([self._heard, pcm])[-self._fade :]

    def sound(self, least: int = 0) -> Pcm:
        """Return the last samples reversed and fading out, at least `least` of them; empty if that
        is 0 and there were none.
        """
        back = self._heard[::-1]
        length = max(least, len(back) + self._silent if len(back) else 0)
        pcm = np.zeros(length, np.float32)
        kept = min(len(back), max(0, length - self._silent))
        pcm[:kept] = back[:kept] * _fade_gain(kept)
        self._heard = np.zeros(0, np.float32)
        return pcm


def _fade_gain(samples: int) -> Pcm:
    return (np.cos(np.linspace(0, np.pi / 2, samples)) ** 2).astype(np.float32)


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
