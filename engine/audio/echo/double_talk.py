"""Detect within 30 ms that the microphone contains more than echo, before a voice detector can.

Per band, the filter's residual is compared with its usual level (a share of the predicted echo, and
steady noise). The decision depends on the samples alone; a detector that misjudges a room adapts
within seconds.
"""

import numpy as np
import numpy.typing as npt

from engine.audio.echo.adaptive import BLOCK, Split

_EDGES_HZ = (150, 300, 450, 600, 800, 1000, 1250, 1600, 2000, 2500, 3200, 4000, 5500, 7500)
_BIN_HZ = 50  # of a transform over two blocks
_BROAD = 12  # bands that a vowel fills: all but the last
_SURE_DB = -0.5  # mean over those; echoes alone stay below it, except twice a minute
# Blocks in a row. Onsets of a loud echo often fill three: 8.3 times a minute if it is 6 dB above
# the user. Four: 2.4 times, 1.2 with the margin below. Of 60 sentences the median is noticed 1 to 8
# ms later, the latest twentieth 6 to 10 ms, and none is missed.
_BLOCKS = 4
_MARGIN_DB = 0.5  # by which the residual may exceed its usual level
# Hisses and murmurs fill few bands: three, in the mean over 50 ms. Of 64 sentences 6 dB above the
# echo, half were noticed within 73 ms (without this 84) and 95 % within 233 (253). Of 48 sentences
# 6 dB below the echo, two were missed before, and none now.
_FEW = 3
_FEW_BLOCKS = 5
_FEW_DB = 4.0
_LEAST_DB, _MOST_DB = -3.0, 12.0  # limits of one band
_ECHO_KEEP = 0.85  # per block: an echo rings on beyond the filter's span
_SPREAD = 0.003  # of the mean echo, in every band: a clipping loudspeaker fills the empty ones
_USUAL = 0.9  # quantile of the residual echo that counts as its usual share
_STEP_DB = 0.1  # by which a block moves that share
_NOISE_KEEP = 0.8
_NOISE_BLOCKS = 25  # of which the quietest counts
_NOISE_STRETCHES = 8  # stretches in memory: 2 s
_NOISE_BIAS = 2.0  # the quietest of many is below the mean
_TINY = 1e-9

Bands = npt.NDArray[np.float64]  # [band] power


class DoubleTalk:
    """Detector on the output of an AdaptiveFilter."""

    def __init__(self) -> None:
        bands = len(_EDGES_HZ) - 1
        self._edges = np.array(_EDGES_HZ) // _BIN_HZ
        self._window = np.hanning(2 * BLOCK).astype(np.float32)
        self._pair = np.zeros((2, 2 * BLOCK), np.float32)  # residual and echo
        self._echo = np.full(bands, _TINY)
        self._share_db = np.zeros(bands)  # of the echo that the filter leaves
        self._noise = _Noise(bands)
        self._in_a_row = 0
        self._recent = np.full((_FEW_BLOCKS, bands), _LEAST_DB)  # surprises, oldest first

    @property
    def heard(self) -> bool:
        """Whether the last blocks contained something other than echo and noise."""
        few = np.sort(np.mean(self._recent, axis=0))[-_FEW:]
        return self._in_a_row >= _BLOCKS or float(np.mean(few)) > _FEW_DB

    def push(self, split: Split) -> None:
        """Process the next block."""
        self._pair = np.concatenate(
            (self._pair[:, BLOCK:], np.stack((split.residual, split.echo))), axis=1
        )
        power = np.abs(np.fft.rfft(self._pair * self._window, axis=1)) ** 2
        summed = np.add.reduceat(power[:, : self._edges[-1]], self._edges[:-1], axis=1)
        residual, echo = summed / np.diff(self._edges)
        self._echo = np.maximum(np.maximum(echo, self._echo * _ECHO_KEEP), _TINY)
        surprise = self._surprise_db(residual, self._echo + _SPREAD * float(np.mean(self._echo)))
        self._recent = np.vstack((self._recent[1:], surprise))
        broad = float(np.mean(surprise[:_BROAD]))
        self._in_a_row = self._in_a_row + 1 if broad > _SURE_DB else 0

    def _surprise_db(self, residual: Bands, echo: Bands) -> Bands:
        """Return by how much this block's residual exceeds the expected one in each band."""
        noise = self._noise.push(residual)
        expected = echo * 10 ** ((self._share_db + _MARGIN_DB) / 10) + _NOISE_BIAS * noise
        above_db = 10 * np.log10(residual / (expected + _TINY) + _TINY)
        self._adapt(residual, echo, noise)
        surprise: Bands = np.clip(above_db, _LEAST_DB, _MOST_DB)
        return surprise

    def _adapt(self, residual: Bands, echo: Bands, noise: Bands) -> None:
        """Move the usual share of each band whose echo is above the noise. Also during speech;
        otherwise a changed room would be taken for a person for ever.
        """
        share_db = 10 * np.log10(np.maximum(residual - noise, _TINY) / echo)
        audible = (echo > _TINY) & (echo * 10 ** (self._share_db / 10) > noise)
        moved = np.where(share_db > self._share_db, _USUAL, _USUAL - 1)
        self._share_db += np.where(audible, _STEP_DB * moved, 0.0)


class _Noise:
    """The recent minimum of each band."""

    def __init__(self, bands: int) -> None:
        self._smooth: Bands | None = None  # None = no block yet
        self._least = np.full((_NOISE_STRETCHES, bands), np.inf)
        self._blocks = 0

    def push(self, power: Bands) -> Bands:
        """Process another block's power; return its noise."""
        before = power if self._smooth is None else self._smooth
        self._smooth = _NOISE_KEEP * before + (1 - _NOISE_KEEP) * power
        if self._blocks % _NOISE_BLOCKS == 0:
            self._least = np.roll(self._least, 1, axis=0)
            self._least[0] = np.inf
        self._blocks += 1
        self._least[0] = np.minimum(self._least[0], self._smooth)
        noise: Bands = np.min(self._least, axis=0)
        return noise
