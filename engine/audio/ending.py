"""Fades at the beginning and the end of an utterance.

Invariant: the first sample and the last SILENT_MS are silence, whatever a network generates.
"""

from typing import Final

import numpy as np

from engine.audio.pcm import Pcm

SILENT_MS: Final = 10
_RISE_MS: Final = 5
_FADE_MS: Final = 40  # for a network that stops in a vowel, or begins an unwanted sound


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
    gain = np.concatenate(
        [np.ones(len(pcm) - silent - fade), _fade_gain(fade), np.zeros(silent)], dtype=np.float32
    )
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
