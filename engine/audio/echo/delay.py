"""How long after it is played the loudspeaker is heard: devices, air and buffers together.

Invariant: says nothing until it is sure. WebRTC's own estimate fails when steady noise is near the
level of the echo, and then nothing is cancelled at all (measured in tests/benchmarks/barge_in.py);
told the delay, it works. Phases of the two spectra are compared over a second (PHAT) and averaged.
"""

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
