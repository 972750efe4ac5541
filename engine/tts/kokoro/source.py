"""Excitation of Kokoro's decoder: the spectrum of a sum of harmonics of the pitch. Also the
decoder's curves of pitch and energy.

The phase runs through the entire sentence, so that windows join. The published graph begins every
call at phase zero: the same window, cut elsewhere, then correlates at -0.2 with the sentence.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

SAMPLE_RATE: Final = 24_000
FRAME: Final = 600  # samples, 25 ms: the unit of durations
STEP: Final = 300  # samples of one value of the pitch
FINE_ROWS: Final = 120  # spectra of a frame
BINS: Final = 11  # of a spectrum: 20 samples, every 5
EDGE: Final = 5  # samples at each end of a window that its first or last row gives only in part
_WIDTH, _HOP = 20, 5  # samples of a spectrum, and between two
_HARMONICS: Final = 9
_LOUDNESS: Final = 0.1
_VOICED_HZ: Final = 10.0


@dataclass(frozen=True)
class Source:
    """Published weights: of the harmonics [9] and their bias, and of the convolutions over pitch
    and energy [2, 3] with their biases [2].
    """

    harmonics: Floats
    bias: float
    taps: Floats
    tap_bias: Floats

    def curves(self, pitch: Floats, energy: Floats) -> Floats:
        """Convert pitch and energy, two values a frame [2 T] each, to the decoder's
        input [T, 2].
        """
        columns = []
        for values, taps, bias in zip((pitch, energy), self.taps, self.tap_bias, strict=True):
            padded = np.pad(values, 1)
            three = np.stack([padded[:-2:2], padded[1:-1:2], padded[2::2]])
            columns.append(taps @ three + bias)
        return np.stack(columns, axis=1).astype(np.float32)

    def turns(self, pitch: Floats) -> npt.NDArray[np.float64]:
        """Return the phase of each harmonic in revolutions, at the middle of each pitch value [2 T,
        9], counted from the sentence's start.
        """
        each = pitch.astype(np.float64)[:, None] * np.arange(1, _HARMONICS + 1) / SAMPLE_RATE
        return STEP * np.cumsum(each - np.floor(each), axis=0)

    def spectrum(
        self, pitch: Floats, turns: npt.NDArray[np.float64], first: int, last: int
    ) -> Floats:
        """Return magnitudes and angles of the frames from `first` to `last`, a row every 5 samples,
        [120 (last - first) + 1, 22].
        """
        wave = self._wave(pitch, turns, first, last)
        pieces = np.lib.stride_tricks.sliding_window_view(wave, _WIDTH)[::_HOP]
        parts = pieces @ _TRANSFORM
        real, imaginary = parts[:, :BINS], parts[:, BINS:]
        return np.concatenate([np.hypot(real, imaginary), np.arctan2(imaginary, real)], axis=1)

    def _wave(self, pitch: Floats, turns: npt.NDArray[np.float64], first: int, last: int) -> Floats:
        """Return samples from half a window before the frame `first` to half a window after the
        last one.
        """
        total = STEP * len(pitch)
        places = np.abs(np.arange(FRAME * first - _WIDTH // 2, FRAME * last + _WIDTH // 2))
        places = np.where(places >= total, 2 * total - 2 - places, places)  # reflected at the ends
        at = (places + 0.5) / STEP - 0.5
        before = np.floor(at).astype(np.int64)
        share = (at - before)[:, None]
        low, high = (np.clip(before + n, 0, len(pitch) - 1) for n in (0, 1))
        phase = turns[low] * (1 - share) + turns[high] * share
        phase -= np.floor(phase)
        voiced = pitch[places // STEP] > _VOICED_HZ
        waves = np.sin(np.float32(2 * np.pi) * phase.astype(np.float32)) * voiced[:, None]
        wave: Floats = np.tanh(np.float32(_LOUDNESS) * (waves @ self.harmonics) + self.bias)
        return wave.astype(np.float32)


def _transform() -> Floats:
    """Return the Fourier transform of windows of _WIDTH samples, Hann window included, as a matrix
    [20, 22], real parts first.
    """
    places = np.arange(_WIDTH)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * places / _WIDTH)
    angles = 2 * np.pi * places[:, None] * np.arange(BINS) / _WIDTH
    parts = np.concatenate([np.cos(angles), -np.sin(angles)], axis=1) * hann[:, None]
    return parts.astype(np.float32)


_TRANSFORM: Final = _transform()
