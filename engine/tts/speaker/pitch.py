"""Pitch and pace of speech at 16 kHz."""

from typing import Final

import numpy as np
import numpy.typing as npt

from engine.audio.pcm import Pcm

Numbers = npt.NDArray[np.float64]

RATE: Final = 16_000
_LOWEST_HZ, _HIGHEST_HZ = 60, 450
WINDOW: Final = 800  # samples of the pitch's frames
_HOP, _FFT = 160, 2048
_VOICED: Final = 0.55  # correlation of a frame with itself a period later
_LONGER: Final = 0.04  # taken off for each octave, or multiples of the period would win
_DIP_DB: Final = 2.0  # between two syllables
_FAINTEST_DB: Final = 25.0  # of a syllable, below the loudest ones


def log_pitch(pcm: Pcm) -> Numbers:
    """Return the natural logarithms of the pitch in Hz of the voiced frames at 16 kHz."""
    pitch = pitch_of(pcm, _HOP)
    return np.log(pitch[pitch > 0])


def pitch_of(pcm: Pcm, hop: int) -> Numbers:
    """Return the pitch in Hz of samples at 16 kHz, a value for each complete window, `hop` samples
    apart; 0 where unvoiced. The first window begins at the first sample.
    """
    if len(pcm) < WINDOW:
        return np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(pcm, WINDOW)[::hop]
    window = np.hanning(WINDOW)
    spectra = np.fft.rfft((frames - frames.mean(1, keepdims=True)) * window, _FFT)
    likeness = np.fft.irfft(np.abs(spectra) ** 2)
    power = likeness[:, 0].copy()
    own = np.fft.irfft(np.abs(np.fft.rfft(window, _FFT)) ** 2)
    lags = np.arange(RATE // _HIGHEST_HZ, RATE // _LOWEST_HZ + 1)
    likeness = likeness[:, lags] / (power[:, None] + 1e-9) / (own[lags] / own[0])
    best = (likeness - _LONGER * np.log2(lags)).argmax(1)
    voiced = likeness[np.arange(len(best)), best] > _VOICED
    voiced &= power > 0.02 * np.percentile(power, 95)
    pitch: Numbers = np.where(voiced, RATE / lags[best], 0.0)
    return pitch


def pace(pcm: Pcm) -> float:
    """Count syllables a second: rises of the level between dips."""
    blocks = pcm[: len(pcm) // _HOP * _HOP].reshape(-1, _HOP).astype(np.float64)
    bump = np.hanning(9) / np.hanning(9).sum()
    levels = 10 * np.log10(np.convolve((blocks**2).mean(1), bump, "same") + 1e-8)
    faintest = np.percentile(levels, 95) - _FAINTEST_DB
    count, low, high = 0, levels[0], levels[0]
    for level in levels:
        high = max(high, level)
        if high - level > _DIP_DB:
            count += bool(high > faintest and high - low > _DIP_DB)
            low = high = level
        elif level < low:
            low = high = level
    return count * RATE / len(pcm)
