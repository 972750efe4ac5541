"""A Kalman filter in the frequency domain for the part of an echo that a linear room explains.

WebRTC's canceller alone is not enough: it ends in a suppressor, which mutes the user together with
the echo while both sound. A filter removes only what it predicts. So its residual shows at once
whether the user speaks, and keeps every word. The filter (Enzner and Vary 2006; partitioned: Kuech,
Mabande and Enzner 2014) weighs each correction by its own uncertainty against the other sound in
the microphone, so it needs no detector of double talk.

Invariant: one BLOCK in, one BLOCK out, no latency; the room may ring for SPAN blocks.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.audio.base import Pcm

BLOCK = 160  # samples: 10 ms at 16 kHz, the block size of WebRTC's processing
SPAN = 20  # blocks of the room's response: 200 ms; 0.4 s learns later and was no better
# The same for the distortion of a loudspeaker at high levels, the cube of the played signal (Malik
# and Enzner 2012): 3 dB less residual echo where distortion dominates it, and nowhere more.
CUBE_SPAN = 8
_CUBE = 25.0  # factor of the cube: as loud as the signal at a fifth of full scale
_CUBE_UNSURE = 0.01  # of the room's variance: more of it slows the first seconds
# Share of the room's response that stays the same per block. Clocks that run 100 ppm apart turn the
# phase at 4 kHz by half a circle a second: 0.999 is 3 dB worse there, 0.99 2 dB elsewhere.
_KEEP = 0.997
# Initial squared gain per bin. It falls as rooms do, and is small; otherwise the first second is
# spent on correcting hasty estimates.
_UNSURE = 0.1
_UNSURE_BLOCKS = 4.0  # after which it is a third
_SMOOTH = 0.8  # weight of earlier blocks in the spectrum of other sound
_SUREST = 1e-10  # minimum variance: the filter never gets more certain
_TINY = 1e-9  # power far below a bit


@dataclass(frozen=True)
class Split:
    """A BLOCK of the microphone in two parts: `residual` + `echo` is the input."""

    residual: Pcm
    echo: Pcm


class AdaptiveFilter:
    """Learns how the played signal reaches the microphone."""

    def __init__(self) -> None:
        bins, partitions = BLOCK + 1, SPAN + CUBE_SPAN
        self._weights = np.zeros((partitions, bins), np.complex64)  # [partition, bin]
        expected = _UNSURE * np.exp(-np.arange(SPAN) / _UNSURE_BLOCKS)
        expected = np.concatenate((expected, _CUBE_UNSURE * expected[:CUBE_SPAN]))
        self._doubt = np.repeat(expected.astype(np.float32)[:, None], bins, axis=1)  # variance
        # Spectra of the played signal, newest first, then of its cube.
        self._spectra = np.zeros((partitions, bins), np.complex64)
        self._others: npt.NDArray[np.float32] = np.zeros(bins, np.float32)  # power that is not echo
        self._played: Pcm = np.zeros(2 * BLOCK, np.float32)
        self._padded: Pcm = np.zeros(2 * BLOCK, np.float32)

    def push(self, heard: Pcm, played: Pcm) -> Split:
        """Process BLOCK samples of both. Played samples must not come later than their echo."""
        self._played = np.concatenate((self._played[BLOCK:], played))
        self._spectra = np.roll(self._spectra, 1, axis=0)
        self._spectra[0] = np.fft.rfft(self._played)
        self._spectra[SPAN] = np.fft.rfft(_CUBE * self._played**3)
        predicted = np.einsum("pf,pf->f", self._spectra, self._weights)
        echo = np.fft.irfft(predicted)[BLOCK:].astype(np.float32)
        residual = (heard - echo).astype(np.float32)
        self._learn(residual)
        return Split(residual, echo)

    def _learn(self, residual: Pcm) -> None:
        """Do one step of the Kalman filter, diagonal in bins and partitions."""
        self._padded[BLOCK:] = residual
        error = np.fft.rfft(self._padded).astype(np.complex64)
        self._others = _SMOOTH * self._others + (1 - _SMOOTH) * _power(error)
        self._doubt = _KEEP**2 * self._doubt + (1 - _KEEP**2) * _power(self._weights)
        loudness = _power(self._spectra)
        # Half: a block of error fills half of the transform that a block of echo does.
        expected = 0.5 * np.einsum("pf,pf->f", loudness, self._doubt) + self._others + _TINY
        gain = self._doubt / expected
        answer = np.fft.irfft(gain * np.conj(self._spectra) * error, axis=1)
        answer[:, BLOCK:] = 0  # or the filter would be circular
        self._weights += np.fft.rfft(answer, axis=1).astype(np.complex64)
        self._doubt = np.maximum(self._doubt * (1 - 0.5 * gain * loudness), np.float32(_SUREST))


def _power(spectrum: npt.NDArray[np.complex64]) -> npt.NDArray[np.float32]:
    power: npt.NDArray[np.float32] = spectrum.real**2 + spectrum.imag**2
    return power
