"""Simulated noise and room echo for prompts, because a person's recording is never as clean as a
synthesiser's speech.

Invariant: the result depends only on the samples and the random generator; the length stays.
"""

import random
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve

Pcm = npt.NDArray[np.float32]

QUIETEST_DB, LOUDEST_DB = 30.0, 8.0  # signal to noise
ECHO_SECONDS: Final = (0.08, 0.5)  # until an echo has faded by 60 dB
DIRECT_SHARE: Final = (0.5, 0.95)  # of the energy on the direct path


def in_a_room(pcm: Pcm, sample_rate: int, draw: random.Random) -> Pcm:
    """Add an echo and coloured noise to samples [S]; the level stays."""
    dice = np.random.default_rng(draw.getrandbits(32))
    level = float(np.sqrt(np.mean(np.square(pcm)) + 1e-9))
    sound = _echoing(pcm, sample_rate, draw, dice)
    noise = _noise(len(pcm), draw.uniform(0.0, 1.5), dice)
    decibels = draw.uniform(LOUDEST_DB, QUIETEST_DB)
    sound = sound + noise * level * 10 ** (-decibels / 20)
    sound *= level / float(np.sqrt(np.mean(np.square(sound)) + 1e-9))
    return sound.astype(np.float32)


def _echoing(
    pcm: Pcm, sample_rate: int, draw: random.Random, dice: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Convolve samples with a random room response: a direct path, then decaying noise."""
    count = int(draw.uniform(*ECHO_SECONDS) * sample_rate)
    tail = dice.standard_normal(count) * 10 ** (-3 * np.arange(count) / count)
    direct = draw.uniform(*DIRECT_SHARE)
    impulse = tail * np.sqrt((1 - direct) / np.sum(np.square(tail)))
    impulse[0] += np.sqrt(direct)
    sound: npt.NDArray[np.float64] = fftconvolve(pcm, impulse)[: len(pcm)]
    return sound


def _noise(length: int, slope: float, dice: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return noise of level 1 whose power falls with frequency ** slope (0 = white, 1 = pink)."""
    spectrum = np.fft.rfft(dice.standard_normal(length))
    spectrum /= np.maximum(1, np.arange(len(spectrum))) ** (slope / 2)
    noise = np.fft.irfft(spectrum, length)
    level: npt.NDArray[np.float64] = noise / np.sqrt(np.mean(np.square(noise)) + 1e-12)
    return level
