"""Estimate the delay from playback to the microphone: devices, air and buffers together.

The estimator returns nothing until it is certain. WebRTC's own estimate fails when steady noise is
near the level of the echo, and then nothing is cancelled (tests/benchmarks/barge_in.py); with a
given delay it works. The phases of the spectra are compared over a second (PHAT) and averaged.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from engine.audio.base import Pcm
from engine.audio.echo.canceller import SAMPLE_RATE

LONGEST_S = 0.45  # the longest delay that is searched
_WINDOW = 16384  # samples per comparison: 1.02 s
_HOP = 4096  # a new comparison every 0.26 s: 0.3 % of one core
_KEEP = 0.75  # weight of earlier comparisons
_SURE = 7.0  # a peak over the standard deviation; chance alone gives 4 to 5
_LEAST_COMPARISONS = 3  # earlier, the windows are half empty and their edges agree by chance
_SAME_S = 0.004  # two estimates that agree
_QUIET = 1e-4  # root mean square below which nothing was played
_BAND_HZ = (200, 4000)  # the band of speech

_PACE: Final = 0.1  # 1/s: an error is corrected in ten seconds
_MOST: Final = 8.0  # limit of the error in samples: an estimate may be wrong, and clocks are steady
_FASTEST: Final = 8.0  # limit of the drift in samples a second: 500 ppm at 16 kHz
_ANSWER_S: Final = 0.26  # how long an estimate is used; then only the learnt drift


class DelayEstimator:
    """Delay estimator for two streams in step; `delay` is the best estimate so far."""

    def __init__(self) -> None:
        low, high = (hertz * _WINDOW // SAMPLE_RATE for hertz in _BAND_HZ)
        self._band = slice(low, high)
        self._heard: Pcm = np.zeros(_WINDOW, np.float32)
        self._played: Pcm = np.zeros(_WINDOW, np.float32)
        self._new = 0
        self._comparisons = 0
        self._phases: npt.NDArray[np.complex128] = np.zeros(high - low, np.complex128)
        self._last: int | None = None  # the last certain estimate, not yet confirmed
        self.delay: int | None = None  # samples; None = unknown
        self.answers = 0  # how often it was found

    def push(self, heard: Pcm, played: Pcm) -> None:
        """Append the same number of 16 kHz samples (fewer than a window) to both."""
        samples = len(heard)
        self._heard = np.concatenate((self._heard[samples:], heard))
        self._played = np.concatenate((self._played[samples:], played))
        self._new += samples
        if self._new >= _HOP:
            self._new = 0
            self._compare()

    def shift(self, earlier: int) -> None:
        """Correct all delays found so far: the samples were played `earlier` than assumed."""
        self._played = np.roll(self._played, -earlier)
        turn = -2j * np.pi * np.arange(self._band.start, self._band.stop) * earlier / _WINDOW
        self._phases *= np.exp(turn)
        if self.delay is not None:
            self.delay += earlier
        if self._last is not None:
            self._last += earlier

    def _compare(self) -> None:
        if float(np.sqrt(np.mean(np.square(self._played)))) < _QUIET:
            return
        self._comparisons += 1
        cross = np.fft.rfft(self._heard)[self._band] * np.conj(
            np.fft.rfft(self._played)[self._band]
        )
        self._phases = _KEEP * self._phases + cross / (np.abs(cross) + 1e-12)
        spectrum = np.zeros(_WINDOW // 2 + 1, np.complex128)
        spectrum[self._band] = self._phases
        likely = np.abs(np.fft.irfft(spectrum)[: int(LONGEST_S * SAMPLE_RATE)])
        peak = int(np.argmax(likely))
        if self._comparisons < _LEAST_COMPARISONS or likely[peak] < _SURE * float(np.std(likely)):
            return
        if self._last is not None and abs(self._last - peak) <= _SAME_S * SAMPLE_RATE:
            self.delay = peak
            self.answers += 1
        self._last = peak


class DriftTracker:
    """Tracks how a delay creeps because the clocks of two devices differ: takes errors in samples,
    returns steps in samples.

    A loop of second order: it learns the clocks' difference, so that in the end no error is left.
    It is slow, because a filter that predicts an echo works best with a constant delay. Without it,
    clocks 100 ppm apart left 12 dB more of a loud echo where a voice was suspected, and the
    assistant took itself for a person every two minutes (tests/benchmarks/barge_in.py). Invariant:
    a step is a small part of a sample, whatever the estimates.
    """

    def __init__(self, step_s: float) -> None:
        """`step_s`: seconds from step to step."""
        self._step_s = step_s
        self._drift = 0.0  # samples a second, as learnt
        self._pull = 0.0  # samples a second, from the last estimate
        self._left = 0  # steps for which it pulls

    def correct(self, error: float) -> None:
        """Correct a delay that is `error` samples longer than assumed; called every _ANSWER_S."""
        error = min(max(error, -_MOST), _MOST)
        drift = self._drift + _PACE**2 * error * _ANSWER_S
        self._drift = min(max(drift, -_FASTEST), _FASTEST)
        self._pull = 2 * _PACE * error
        self._left = round(_ANSWER_S / self._step_s)

    def step(self) -> float:
        """Return by how many samples to move now."""
        self._left = max(0, self._left - 1)
        return (self._drift + (self._pull if self._left else 0.0)) * self._step_s
