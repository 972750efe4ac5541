"""Arithmetic on samples for all of the audio path: stream resampling, levels, ramps, and the
loudness of a recording (ITU-R BS.1770-4).

Loudness uses the filter parameters of pyloudnorm (MIT), with which VoXtream2.1's prompts were
measured. At 48 kHz they stay within 0.1 dB of the recommendation's own coefficients, and they fit
every rate. Invariant: a Resampler's output does not depend on how its input is chunked, and is
complete after end().
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt
import soxr

Pcm = npt.NDArray[np.float32]  # [S] mono, -1..1

SYNTHETIC = "Synthetic speech, made by Rubato"  # the comment in files of speech
SILENCE_DB = -120.0  # level_db of digital silence
_EMPTY = np.zeros(0, dtype=np.float32)

BLOCK_S, STEP_S = 0.4, 0.1  # length of a gating block, and step to the next
# Blocks below the first and, of the rest, below the second are ignored.
QUIET_LUFS, RELATIVE_LU = -70.0, -10.0
_SHELF, _PASS = (4.0, 0.5**0.5, 1500.0), (0.5, 38.0)  # ear: gain (dB), Q, Hz; rumble filter: Q, Hz
_TAIL_S: Final = 1.0  # the filters have decayed after that
_Curve = npt.NDArray[np.complex128]


class Resampler:
    """One stream of samples from one rate to another (Hz); unchanged if they are equal.

    soxr's HQ filter holds back 21 ms at 48 -> 16 kHz and 32 ms at 24 -> 48 kHz (measured with 10 ms
    chunks). Later pushes or end() return the held samples.
    """

    def __init__(self, from_rate: int, to_rate: int) -> None:
        self._stream = None
        if from_rate != to_rate:
            self._stream = soxr.ResampleStream(from_rate, to_rate, 1, dtype="float32", quality="HQ")

    def push(self, pcm: Pcm) -> Pcm:
        """Append samples and return those that are ready, maybe none. Not after end()."""
        return pcm if self._stream is None else self._stream.resample_chunk(pcm)

    def end(self) -> Pcm:
        """Return the samples still held back. The stream is over."""
        stream, self._stream = self._stream, None
        return _EMPTY if stream is None else stream.resample_chunk(_EMPTY, last=True)


def level_db(pcm: Pcm) -> float:
    """Return the root-mean-square level in dB of full scale (a full-scale square wave is 0)."""
    if pcm.size == 0:
        return SILENCE_DB
    power = float(np.mean(np.square(pcm, dtype=np.float64)))
    if power <= 10 ** (SILENCE_DB / 10):
        return SILENCE_DB
    return min(0.0, 10 * math.log10(power))


def ramp(start: float, stop: float, samples: int) -> Pcm:
    """Return a gain [S] that moves in a straight line and reaches `stop` in its last sample."""
    steps = np.arange(1, samples + 1, dtype=np.float32)
    line: Pcm = start + (stop - start) / max(1, samples) * steps
    return line.astype(np.float32)


def loudness(pcm: Pcm, sample_rate: int) -> float:
    """Return the loudness of one channel, in LUFS; -inf for silence or less than a block."""
    # Both filters are applied in the frequency domain: numpy has no recursive ones.
    size = 1 << (len(pcm) + int(_TAIL_S * sample_rate) - 1).bit_length()
    turn = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    curve = _shelf(turn, sample_rate) * _high_pass(turn, sample_rate)
    weighted = np.fft.irfft(np.fft.rfft(pcm.astype(np.float64), size) * curve, size)
    powers = _block_powers(weighted[: len(pcm)], sample_rate)
    heard = powers[_lufs(powers) >= QUIET_LUFS]
    if not len(heard):
        return float("-inf")
    loud = heard[_lufs(heard) > _lufs(heard.mean()) + RELATIVE_LU]
    return float(_lufs(loud.mean()))


def brought_to(pcm: Pcm, sample_rate: int, target: float) -> Pcm:
    """Return the recording at `target` LUFS, or quieter if its peak would exceed full scale;
    unchanged if it has no loudness.
    """
    found = loudness(pcm, sample_rate)
    if not np.isfinite(found):
        return pcm
    louder: Pcm = pcm * np.float32(10 ** ((target - found) / 20))
    peak = max(1.0, float(np.abs(louder).max()))
    return louder / np.float32(peak)


def _lufs(power: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return -0.691 + 10 * np.log10(power)


def _block_powers(weighted: npt.NDArray[np.float64], sample_rate: int) -> npt.NDArray[np.float64]:
    """Return the mean square of every block; the last one may be a little shorter."""
    seconds = len(weighted) / sample_rate
    if seconds < BLOCK_S:
        return np.zeros(0)
    starts = np.arange(round((seconds - BLOCK_S) / STEP_S) + 1) * STEP_S
    sums = np.concatenate(([0.0], np.cumsum(np.square(weighted))))
    first, last = (
        np.minimum((at * sample_rate + 1e-6).astype(int), len(weighted))
        for at in (starts, starts + BLOCK_S)
    )
    powers: npt.NDArray[np.float64] = (sums[last] - sums[first]) / (BLOCK_S * sample_rate)
    return powers


def _shelf(turn: _Curve, sample_rate: int) -> _Curve:
    """Return the high shelf of the Audio EQ Cookbook (R. Bristow-Johnson), at e^-iw."""
    gain_db, q, hz = _SHELF
    a, w = 10 ** (gain_db / 40), 2 * np.pi * hz / sample_rate
    cos, wide = np.cos(w), np.sqrt(a) * np.sin(w) / q
    top = (a + 1 + (a - 1) * cos + wide, -2 * (a - 1 + (a + 1) * cos), a + 1 + (a - 1) * cos - wide)
    low = (a + 1 - (a - 1) * cos + wide, 2 * (a - 1 - (a + 1) * cos), a + 1 - (a - 1) * cos - wide)
    return a * _polynomial(top, turn) / _polynomial(low, turn)


def _high_pass(turn: _Curve, sample_rate: int) -> _Curve:
    """Return the high pass of the same cookbook."""
    q, hz = _PASS
    w = 2 * np.pi * hz / sample_rate
    cos, alpha = np.cos(w), np.sin(w) / (2 * q)
    top = ((1 + cos) / 2, -(1 + cos), (1 + cos) / 2)
    return _polynomial(top, turn) / _polynomial((1 + alpha, -2 * cos, 1 - alpha), turn)


def _polynomial(factors: tuple[float, float, float], turn: _Curve) -> _Curve:
    return factors[0] + factors[1] * turn + factors[2] * turn**2
