"""The tone that devices play and files hold."""

import numpy as np

from engine.audio.base import Pcm


def sine(sample_rate: int, seconds: float) -> Pcm:
    phase = 2 * np.pi * 440 / sample_rate * np.arange(int(sample_rate * seconds))
    return (0.5 * np.sin(phase)).astype(np.float32)
