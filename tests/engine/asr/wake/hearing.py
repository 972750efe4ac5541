"""A fake of the networks: a hop's vector is how loud some tones are in it."""

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.asr.wake.embedding import HOP, HOPS, WIDTH, Windows
from engine.audio.base import Pcm

TONES_HZ = 200 + 50 * np.arange(WIDTH - 1)
_WAVES = np.exp(2j * np.pi * np.outer(np.arange(HOP), TONES_HZ) / SAMPLE_RATE)


class FakeEmbedding:
    """An Embedding. A vector's first value is the hop's rms."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._samples = np.zeros(0, np.float32)
        self._window = np.zeros((HOPS, WIDTH), np.float32)

    def push(self, pcm: Pcm) -> Windows:
        self._samples = np.concatenate((self._samples, pcm))
        windows = []
        while len(self._samples) >= HOP:
            hop, self._samples = self._samples[:HOP], self._samples[HOP:]
            loudness = np.sqrt(np.mean(hop**2, keepdims=True))
            vector = np.concatenate((loudness, np.abs(hop @ _WAVES) * 2 / HOP))
            self._window = np.concatenate((self._window, vector[None].astype(np.float32)))[-HOPS:]
            windows.append(self._window)
        return np.array(windows, np.float32).reshape(-1, HOPS, WIDTH)
