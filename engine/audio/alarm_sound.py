"""The synthesised sound of an alarm: two alternating notes that grow louder.

Invariant: no sample is above the limiter's limit, and every note begins and ends in silence. The
notes are low and rich in overtones, which wakes sleepers better than a high pure tone.
"""

from typing import Final

import numpy as np

from engine.audio.finishing import LIMIT, Limiter
from engine.audio.pcm import Pcm

RISE_S: Final = 10.0  # until it reaches its full level
_QUIETEST: Final = 0.08  # -22 dB
_NOTES_HZ: Final = (784.0, 523.0) * 8
_NOTE_S, _EDGE_S = 0.1, 0.008
_OVERTONES: Final = (1.0, 0.0, 0.33, 0.0, 0.2)  # with even ones it is taken for speech
BURST_S: Final = len(_NOTES_HZ) * _NOTE_S


def burst(after_s: float, sample_rate: int) -> Pcm:
    """Return BURST_S of an alarm that began to ring `after_s` seconds ago."""
    count = round(_NOTE_S * sample_rate)
    at = np.arange(count) / sample_rate
    edge = np.clip(np.minimum(at, at[::-1]) / _EDGE_S, 0.0, 1.0)
    notes = []
    for pitch in _NOTES_HZ:
        wave = np.zeros(count)
        for number, share in enumerate(_OVERTONES, 1):
            wave += share * np.sin(2 * np.pi * pitch * number * at)
        notes.append(np.sin(np.pi / 2 * edge) ** 2 * wave / np.abs(wave).max())
    pcm = np.concatenate(notes)
    risen = np.clip((after_s + np.arange(len(pcm)) / sample_rate) / RISE_S, 0.0, 1.0)
    level = _QUIETEST ** (1.0 - risen) * LIMIT
    return Limiter(sample_rate).limit((level * pcm).astype(np.float32), 0)
