"""A room between a loudspeaker and a microphone, made of arithmetic, with a person and noise in it.

Invariant: the same room, played the same samples, gives the same microphone samples however they
are cut into blocks. Both devices run at RATE; the microphone's clock may drift from the
loudspeaker's.
"""

from dataclasses import dataclass

import numpy as np
from scipy import signal

from engine.audio.base import Pcm

RATE = 16_000  # Hz
BLOCK = RATE // 100  # samples; what step() takes and gives
NEAR_DB = -26.0  # level of the person's active speech at the microphone, dB full scale


@dataclass(frozen=True)
class Acoustics:
    """`delay_ms`: from leaving the loudspeaker's ring to the microphone's reader. `echo_db`: level
    of the reply at the microphone against the person's. `reverberation_s`: time in which the room's
    sound falls by 60 dB. `drift_ppm`: how much faster the microphone's clock runs. `drive`: how
    hard the loudspeaker clips; 0 = not at all. `noise_db`: the person's level over steady noise.
    """

    delay_ms: float = 80.0
    echo_db: float = 0.0
    reverberation_s: float = 0.25
    drift_ppm: float = 0.0
    drive: float = 1.0
    noise_db: float = 20.0
    seed: int = 1


class Room:
    """step() by step, 10 ms each."""

    def __init__(self, acoustics: Acoustics, *, voice_db: float = -20.0) -> None:
        """`voice_db`: active level of what the loudspeaker is given at full gain."""
        self._acoustics = acoustics
        rng = np.random.default_rng(acoustics.seed)
        response = _response(acoustics, rng)
        gain = 10 ** ((NEAR_DB + acoustics.echo_db - voice_db) / 20)
        size = 1 << (len(response) + BLOCK - 1).bit_length()
        self._spectrum = np.fft.rfft(response * gain, size)
        self._size = size
        self._past = np.zeros(size)  # what the loudspeaker radiated last
        self._skip = int(acoustics.delay_ms * RATE / 1000)
        self._line = np.zeros(self._skip + BLOCK)  # echo on its way, by the loudspeaker's clock
        self._line_start = 0
        self._ticks = 0
        self._noise = _Noise(acoustics.noise_db, rng)
        self._person: list[tuple[int, Pcm]] = []  # (sample, what is said there)

    @property
    def now(self) -> int:
        """Microphone samples given so far."""
        return self._ticks * BLOCK

    def say(self, pcm: Pcm, *, at: int | None = None) -> int:
        """Somebody speaks at microphone sample `at` (None: now); returns it."""
        start = self.now if at is None else at
        self._person.append((start, pcm))
        return start

    def step(self, played: Pcm) -> Pcm:
        """BLOCK samples leave the ring; the BLOCK samples the microphone delivers meanwhile."""
        drive = self._acoustics.drive
        radiated = np.tanh(drive * 3 * played) / (drive * 3) if drive else played
        self._past = np.concatenate((self._past[BLOCK:], radiated))
        wet = np.fft.irfft(np.fft.rfft(self._past) * self._spectrum, self._size)[-BLOCK:]
        self._line = np.concatenate((self._line, wet))
        heard = self._echo() + self._noise.take(BLOCK) + self._near()
        self._ticks += 1
        return np.clip(heard, -1, 1).astype(np.float32)

    def _echo(self) -> Pcm:
        """The line read by the microphone's clock."""
        first = self._ticks * BLOCK
        at = (first + np.arange(BLOCK)) / (1 + self._acoustics.drift_ppm * 1e-6)
        at = at - self._line_start + BLOCK / 2  # half a block of room for a faster microphone
        whole = at.astype(int)
        part = at - whole
        keep = max(0, whole[0] - BLOCK)
        before, here, after, later = (self._line[np.maximum(whole + k, 0)] for k in (-1, 0, 1, 2))
        cubic = 3 * (here - after) + later - before
        square = 2 * before - 5 * here + 4 * after - later
        echo: Pcm = here + 0.5 * part * (after - before + part * (square + part * cubic))
        self._line = self._line[keep:]
        self._line_start += keep
        return echo

    def _near(self) -> Pcm:
        """What persons say in this block."""
        near = np.zeros(BLOCK)
        first = self.now
        for start, pcm in self._person:
            low, high = max(start, first), min(start + len(pcm), first + BLOCK)
            if low < high:
                near[low - first : high - first] += pcm[low - start : high - start]
        self._person = [(s, p) for s, p in self._person if s + len(p) > first]
        return near


class _Noise:
    """Steady noise with the spectrum of a fan: falling 6 dB per octave above 300 Hz."""

    def __init__(self, below_db: float, rng: np.random.Generator) -> None:
        b, a = signal.butter(1, 300, fs=RATE)
        pcm = signal.lfilter(b, a, rng.standard_normal(20 * RATE))
        self._pcm = pcm / np.sqrt(np.mean(pcm**2)) * 10 ** ((NEAR_DB - below_db) / 20)
        self._at = 0

    def take(self, samples: int) -> Pcm:
        self._at = (self._at + samples) % (len(self._pcm) - samples)
        return self._pcm[self._at : self._at + samples]


def _response(acoustics: Acoustics, rng: np.random.Generator) -> Pcm:
    """A direct sound and a diffuse tail, of unit energy."""
    samples = int(max(0.02, min(acoustics.reverberation_s, 0.45)) * RATE)
    tail = rng.standard_normal(samples) * 10 ** (
        -3 * np.arange(samples) / max(1e-3, acoustics.reverberation_s * RATE)
    )
    tail[: int(0.002 * RATE)] = 0  # the first wall is farther than the microphone
    tail *= 0.5 / np.sqrt(np.sum(tail**2))
    tail[0] = np.sqrt(0.75)
    return tail


def active_db(pcm: Pcm) -> float:
    """Level of the louder half of 20 ms pieces, dB full scale."""
    pieces = pcm[: len(pcm) // 320 * 320].reshape(-1, 320)
    power = np.sort(np.mean(pieces**2, axis=1))[len(pieces) // 2 :]
    return float(10 * np.log10(np.mean(power) + 1e-12))


def at_level(pcm: Pcm, level_db: float = NEAR_DB) -> Pcm:
    """The same with this active level."""
    scaled: Pcm = pcm * np.float32(10 ** ((level_db - active_db(pcm)) / 20))
    return scaled
