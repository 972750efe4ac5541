"""Who and what is heard in a room beside the assistant: interruptions, nods, noises.

Invariant: the same list every time, at the level of a person at the microphone. Voices are flite's;
noises are made of filtered bursts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import signal

from engine.audio.base import Pcm
from tests.end_to_end import spoken as flite
from tests.simulation.room import NEAR_DB, RATE, at_level

VOICES = ("slt", "rms", "awb", "kal16")

INTERRUPTIONS = (
    "stop",
    "stop please",
    "wait a moment",
    "what time is it",
    "what is the date today",
    "set a timer for ten minutes",
    "convert ten miles to kilometers",
    "no I meant tomorrow",
    "how do you spell necessary",
    "do you know the way home",
    "hold on I have a question",
    "what is twenty three times seven",
    "could you repeat that for me",
    "cancel that and tell me the time",
    "that is not what I asked for",
    "louder please I cannot hear you",
)

NODS = ("um hum", "uh huh", "yeah", "okay", "right", "yes", "ah", "I see", "oh really", "good")


@dataclass(frozen=True)
class Sound:
    """Something heard in the room."""

    name: str
    pcm: Pcm  # at RATE
    text: str = ""  # the words; empty when there are none

    @property
    def onset(self) -> int:
        """Where the first sound less than 10 dB below a person's level begins: the first sample of
        the 10 ms since when it was less than 20 dB below. Before that, one of the voices breathes
        out a hiss, 20 dB down, and is silent for a sixth of a second.
        """
        power = np.convolve(self.pcm**2, np.ones(160) / 160, mode="full")[: len(self.pcm)]
        loud = int(np.argmax(power > 10 ** ((NEAR_DB - 10) / 10)))
        faint = np.flatnonzero(power[:loud] <= 10 ** ((NEAR_DB - 20) / 10))
        return int(faint[-1]) + 1 if len(faint) else 0


@cache
def spoken(text: str, voice: str) -> Sound:
    return Sound(f"{text} ({voice})", at_level(flite.spoken(text, voice)), text)


def interruptions() -> Iterator[Sound]:
    """Each sentence once, the voices in turn; spoken as they are asked for."""
    return (spoken(text, VOICES[i % len(VOICES)]) for i, text in enumerate(INTERRUPTIONS))


def nods() -> Iterator[Sound]:
    """Every nod by two voices; spoken as they are asked for."""
    pairs = [(text, VOICES[(i + k) % len(VOICES)]) for i, text in enumerate(NODS) for k in (0, 1)]
    return (spoken(text, voice) for text, voice in pairs)


def noises() -> list[Sound]:
    """Coughs, clicks, typing, knocks, paper, a chair: twenty in all."""
    makers: tuple[tuple[str, Callable[[np.random.Generator], Pcm]], ...] = (
        ("cough", _cough),
        ("click", lambda rng: _burst(rng, 0.004, 2000, 7000)),
        ("typing", _typing),
        ("knock", _knock),
        ("paper", lambda rng: _burst(rng, 0.4, 2500, 7000)),
    )
    rng = np.random.default_rng(7)
    return [
        Sound(f"{name} {number}", at_level(make(rng)).astype(np.float32))
        for name, make in makers
        for number in range(4)
    ]


def _burst(rng: np.random.Generator, seconds: float, low: float, high: float) -> Pcm:
    """Filtered noise that rises in 2 ms and decays."""
    samples = int(seconds * RATE) + 640
    band = signal.butter(2, (low, high), "bandpass", fs=RATE, output="sos")
    pcm = signal.sosfilt(band, rng.standard_normal(samples))
    at = np.arange(samples) / RATE
    shaped: Pcm = pcm * np.minimum(1, at / 0.002) * np.exp(-3 * at / seconds)
    return shaped


def _cough(rng: np.random.Generator) -> Pcm:
    """Two explosions of breath, coloured like a throat."""
    first, second = (_burst(rng, length, 300, 3500) for length in (0.25, 0.3))
    pause = np.zeros(int(rng.uniform(0.05, 0.15) * RATE))
    return np.concatenate([first, pause, 0.7 * second])


def _typing(rng: np.random.Generator) -> Pcm:
    pcm = np.zeros(int(1.2 * RATE))
    for start in np.cumsum(rng.uniform(0.08, 0.2, 6)):
        key = _burst(rng, 0.012, 1500, 6000)
        first = int(start * RATE)
        length = min(len(key), len(pcm) - first)
        pcm[first : first + length] += key[:length]
    return pcm


def _knock(rng: np.random.Generator) -> Pcm:
    knocks = [_burst(rng, 0.05, 100, 900) for _ in range(3)]
    gap = np.zeros(int(0.12 * RATE))
    return np.concatenate([part for knock in knocks for part in (knock, gap)])
