"""How long after it is played the loudspeaker is heard: devices, air and buffers together.

Invariant: says nothing until it is sure. WebRTC's own estimate fails when steady noise is near the
level of the echo, and then nothing is cancelled at all (measured in tests/benchmarks/barge_in.py);
told the delay, it works. Phases of the two spectra are compared over a second (PHAT) and averaged.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from engine.audio.base import Pcm
from engine.audio.echo.canceller import SAMPLE_RATE

LONGEST_S = 0.45  # the latest echo that is looked for
_WINDOW = 16384  # samples that are compared: 1.02 s
_HOP = 4096  # a new comparison every 0.26 s: 0.3 % of one core
_KEEP = 0.75  # weight of the comparisons before
_SURE = 7.0  # a peak over the deviation of all others; chance alone gives 4 to 5
_LOOKS = 3  # before that the windows are half empty and their edges agree by themselves
_SAME_S = 0.004  # two estimates that agree
_QUIET = 1e-4  # root of mean square below which nothing was played
_BAND_HZ = (200, 4000)  # where speech is

_PACE: Final = 0.1  # 1/s: an error is made up for in ten seconds
_MOST: Final = 8.0  # samples of error that count: an answer may be wrong, and clocks are steady
_FASTEST: Final = 8.0  # samples a second that clocks may drift: 500 ppm at 16 kHz
_ANSWER_S: Final = 0.26  # for which an answer is believed; then only what was learnt


class DelayEstimator:
    """Fed both streams in step; `delay` is the best answer so far."""

    def __init__(self) -> None:
        low, high = (hertz * _WINDOW // SAMPLE_RATE for hertz in _BAND_HZ)
        self._band = slice(low, high)
        self._heard: Pcm = np.zeros(_WINDOW, np.float32)
        self._played: Pcm = np.zeros(_WINDOW, np.float32)
        self._new = 0
        self._looks = 0
        self._phases: npt.NDArray[np.complex128] = np.zeros(high - low, np.complex128)
        self._last: int | None = None  # the last sure look, not yet confirmed
        self.delay: int | None = None  # samples; None = not known yet
        self.answers = 0  # how often it was found

    def push(self, heard: Pcm, played: Pcm) -> None:
        """More of both, equally many samples at 16 kHz (fewer than a window)."""
        samples = len(heard)
        self._heard = np.concatenate((self._heard[samples:], heard))
        self._played = np.concatenate((self._played[samples:], played))
        self._new += samples
        if self._new >= _HOP:
            self._new = 0
            self._look()

    def shift(self, earlier: int) -> None:
        """What was played was really played so many samples earlier: add that to every delay found
        so far.
        """
        self._played = np.roll(self._played, -earlier)
        turn = -2j * np.pi * np.arange(self._band.start, self._band.stop) * earlier / _WINDOW
        self._phases *= np.exp(turn)
        if self.delay is not None:
            self.delay += earlier
        if self._last is not None:
            self._last += earlier

    def _look(self) -> None:
        if float(np.sqrt(np.mean(np.square(self._played)))) < _QUIET:
            return
        self._looks += 1
        cross = np.fft.rfft(self._heard)[self._band] * np.conj(
            np.fft.rfft(self._played)[self._band]
        )
        self._phases = _KEEP * self._phases + cross / (np.abs(cross) + 1e-12)
        spectrum = np.zeros(_WINDOW // 2 + 1, np.complex128)
        spectrum[self._band] = self._phases
        likely = np.abs(np.fft.irfft(spectrum)[: int(LONGEST_S * SAMPLE_RATE)])
        peak = int(np.argmax(likely))
        if self._looks < _LOOKS or likely[peak] < _SURE * float(np.std(likely)):
            return
        if self._last is not None and abs(self._last - peak) <= _SAME_S * SAMPLE_RATE:
            self.delay = peak
            self.answers += 1
        self._last = peak


class DriftTracker:
    """How fast a delay creeps, as that of two devices whose clocks run apart does: takes errors in
    samples, gives steps in samples.

    A loop of second order: the clocks' difference is learnt, so that in the end nothing is left to
    correct. It is slow, for whoever predicts an echo by what it has learnt of a room is best served
    by a delay that stands still. Without it, clocks 100 ppm apart left 12 dB more of a loud echo
    where a voice was suspected, and the assistant took itself for a person every two minutes
    (tests/benchmarks/barge_in.py).
    Invariant: a step is a small part of a sample, whatever was answered.
    """

    def __init__(self, step_s: float) -> None:
        """`step_s`: seconds from step to step."""
        self._step_s = step_s
        self._drift = 0.0  # samples a second, as learnt
        self._pull = 0.0  # samples a second, from the last answer
        self._left = 0  # steps for which it pulls

    def correct(self, error: float) -> None:
        """The delay is so many samples longer than it is taken to be; told every _ANSWER_S."""
        error = min(max(error, -_MOST), _MOST)
        drift = self._drift + _PACE**2 * error * _ANSWER_S
        self._drift = min(max(drift, -_FASTEST), _FASTEST)
        self._pull = 2 * _PACE * error
        self._left = round(_ANSWER_S / self._step_s)

    def step(self) -> float:
        """By how many samples to move now."""
        self._left = max(0, self._left - 1)
        return (self._drift + (self._pull if self._left else 0.0)) * self._step_s
