"""Remove the loudspeaker's sound from the microphone's: an adaptive filter, then WebRTC, and a
detector of other sound beside the echo.

WebRTC's canceller alone is not enough: it ends in a suppressor, which mutes the user together with
the echo while both sound. A filter removes only what it predicts. So its residual shows at once
whether the user speaks, and keeps every word. The filter, a Kalman filter in the frequency domain
for the part of an echo that a linear room explains (Enzner and Vary 2006; partitioned: Kuech,
Mabande and Enzner 2014), weighs each correction by its own uncertainty against the other sound in
the microphone, so it needs no detector of double talk. The detector reports within 30 ms that the
microphone contains more than echo, before a voice detector can: per band, the filter's residual is
compared with its usual level (a share of the predicted echo, and steady noise). It depends on the
samples alone; if it misjudges a room, it adapts within seconds.

Invariant: a canceller gets the played and the recorded signal in step, one BLOCK of each at a time,
and returns one; the room may ring for SPAN blocks. livekit (an optional package) contains WebRTC's
audio processing; without it nothing is cancelled, and `cancels` is false. Measured in
tests/benchmarks/barge_in.py.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

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

Bands = npt.NDArray[np.float64]  # [band] power

SAMPLE_RATE = 16_000  # Hz
FRAME = BLOCK  # samples: 10 ms, the only block size of the processing
_FULL_SCALE = 32767.0


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
    return np.asarray(spectrum.real**2 + spectrum.imag**2)


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
        blocks = np.stack((split.residual, split.echo))
        self._pair = np.concatenate((self._pair[:, BLOCK:], blocks), axis=1)
        power = np.abs(np.fft.rfft(self._pair * self._window, axis=1)) ** 2
        summed = np.add.reduceat(power[:, : self._edges[-1]], self._edges[:-1], axis=1)
        residual, echo = summed / np.diff(self._edges)
        self._echo = np.maximum(np.maximum(echo, self._echo * _ECHO_KEEP), _TINY)
        echo = self._echo + _SPREAD * float(np.mean(self._echo))
        noise = self._noise.push(residual)
        expected = echo * 10 ** ((self._share_db + _MARGIN_DB) / 10) + _NOISE_BIAS * noise
        above_db = 10 * np.log10(residual / (expected + _TINY) + _TINY)
        # The usual share of each band whose echo is above the noise moves. Also during speech;
        # otherwise a changed room would be taken for a person for ever.
        share_db = 10 * np.log10(np.maximum(residual - noise, _TINY) / echo)
        audible = (echo > _TINY) & (echo * 10 ** (self._share_db / 10) > noise)
        moved = np.where(share_db > self._share_db, _USUAL, _USUAL - 1)
        self._share_db += np.where(audible, _STEP_DB * moved, 0.0)
        surprise: Bands = np.clip(above_db, _LEAST_DB, _MOST_DB)  # of this block in each band
        self._recent = np.vstack((self._recent[1:], surprise))
        broad = float(np.mean(surprise[:_BROAD]))
        self._in_a_row = self._in_a_row + 1 if broad > _SURE_DB else 0


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
        return np.asarray(np.min(self._least, axis=0))


@dataclass(frozen=True)
class Cleaning:
    """Processing of the microphone's samples: remove echo, remove noise, even out the level."""

    echo: bool = True
    noise: bool = False
    level: bool = False


class EchoCanceller:
    """Canceller for one pair of streams and one thread. This one changes nothing."""

    cancels = False  # the echo is really cancelled
    improves = False  # the microphone's signal is changed even if nothing was played (noise, level)

    @property
    def double_talk(self) -> bool:
        """Whether the last frames contained more than the echo of the played signal."""
        return False

    def reset(self) -> None:
        """Forget the room, because the delay between the two streams has changed."""

    def process(self, heard: Pcm, played: Pcm, delay_ms: int) -> Pcm:
        """Return the user's speech in FRAME microphone samples, given FRAME samples played then.

        `delay_ms` is how much later a sound is in `heard` than in `played`; 0 if unknown.
        """
        return heard


class WebRtcCanceller(EchoCanceller):
    """An adaptive filter, then livekit's AudioProcessingModule on its residual, with the removed
    echo as reference: 0.3 ms of one core for 10 ms of sound (measured here).

    WebRTC's canceller alone mutes the user while both sound. With the echo 6 dB above the user, a
    voice detector found 38 % of the speech in its output, and missed 4 of 30 sentences. After the
    filter it finds 71 % and all sentences; in the clean speech 82 %. The filter alone leaves echoes
    that the detector takes for speech. The output is about 8 ms late.
    """

    def __init__(self, cleaning: Cleaning) -> None:
        # The import takes a moment and 20 MB, so only if the user listens during playback.
        from livekit.rtc.apm import AudioProcessingModule
        from livekit.rtc.audio_frame import AudioFrame

        self.cancels = cleaning.echo
        self.improves = cleaning.noise or cleaning.level
        self._module, self._frame = AudioProcessingModule, AudioFrame
        self._cleaning = cleaning
        self.reset()

    @property
    def double_talk(self) -> bool:
        return self._double_talk.heard

    def reset(self) -> None:
        """Create a new module: it learns a room in half a second; an old one unlearns it in ten."""
        self._filter = AdaptiveFilter()
        self._double_talk = DoubleTalk()
        self._processing: Any = self._module(
            echo_cancellation=self._cleaning.echo,
            noise_suppression=self._cleaning.noise,
            high_pass_filter=True,
            auto_gain_control=self._cleaning.level,
        )

    def process(self, heard: Pcm, played: Pcm, delay_ms: int) -> Pcm:
        if not self.cancels:
            return self._run_module(heard)
        split = self._filter.push(heard, played)
        self._double_talk.push(split)
        self._processing.process_reverse_stream(self._to_frame(split.echo))
        self._processing.set_stream_delay_ms(0)  # the filter's echo is in step
        return self._run_module(split.residual)

    def _run_module(self, pcm: Pcm) -> Pcm:
        near = self._to_frame(pcm)
        self._processing.process_stream(near)
        cleaned: Pcm = np.frombuffer(near.data, dtype="<i2").astype(np.float32) / _FULL_SCALE
        return cleaned

    def _to_frame(self, pcm: Pcm) -> Any:
        whole = (np.clip(pcm, -1.0, 1.0) * _FULL_SCALE).astype("<i2")
        return self._frame(bytearray(whole.tobytes()), SAMPLE_RATE, 1, FRAME)


def installed() -> bool:
    """Return whether WebRTC's processing is installed; loads nothing."""
    return find_spec("livekit") is not None and find_spec("livekit.rtc") is not None


def open_canceller(cleaning: Cleaning) -> EchoCanceller:
    """Return the best available canceller for this cleaning; never fails."""
    if not (cleaning.echo or cleaning.noise or cleaning.level) or not installed():
        return EchoCanceller()
    try:
        return WebRtcCanceller(cleaning)
    except (ImportError, OSError, RuntimeError):  # a wheel that does not fit this machine
        return EchoCanceller()
