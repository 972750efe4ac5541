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
        if from_rate <= 0 or to_rate <= 0:
            raise ValueError(f"rates must be positive, got {from_rate} and {to_rate}")
        self._stream = None
        if from_rate != to_rate:
            self._stream = soxr.ResampleStream(from_rate, to_rate, 1, dtype="float32", quality="HQ")
        self._ended = False

    def push(self, pcm: Pcm) -> Pcm:
        """Append samples and return those that are ready, maybe none. Not after end()."""
        if self._ended:
            raise ValueError("the stream has ended; a new one needs a new Resampler")
        if self._stream is None:
            return pcm
        return self._chunk(pcm, last=False)

    def end(self) -> Pcm:
        """Return the samples still held back."""
        if self._ended or self._stream is None:
            self._ended = True
            return _EMPTY
        self._ended = True
        return self._chunk(_EMPTY, last=True)

    def _chunk(self, pcm: Pcm, *, last: bool) -> Pcm:
        assert self._stream is not None
        samples: Pcm = self._stream.resample_chunk(pcm, last=last)
        return samples


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
