"""Arithmetic on samples for all of the audio path: stream resampling, levels, ramps.

Invariant: a Resampler's output does not depend on how its input is chunked, and is complete after
end().
"""

import math

import numpy as np
import numpy.typing as npt
import soxr

Pcm = npt.NDArray[np.float32]  # [S] mono, -1..1

SYNTHETIC = "Synthetic speech, made by Rubato"  # the comment in files of speech
SILENCE_DB = -120.0  # level_db of digital silence
_EMPTY = np.zeros(0, dtype=np.float32)


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
