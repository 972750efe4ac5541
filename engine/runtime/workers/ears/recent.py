"""The last seconds of sound, by position.

Invariant: positions count samples since restart().
"""

from collections import deque

import numpy as np

from engine.audio.base import Pcm


class Recent:
    """Keeps at least the last `samples`."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._blocks: deque[Pcm] = deque()
        self._length = 0  # samples in the blocks
        self.position = 0  # samples pushed

    def restart(self) -> None:
        """Drop all samples and count from 0 again."""
        self.forget()
        self.position = 0

    def forget(self, before: int | None = None) -> None:
        """Drop the samples before a position; None = all."""
        rest = self.since(self.position if before is None else before)
        self._blocks, self._length = deque([rest]), len(rest)

    def push(self, pcm: Pcm) -> None:
        self._blocks.append(pcm)
        self.position += len(pcm)
        self._length += len(pcm)
        while self._length - len(self._blocks[0]) >= self._samples:
            self._length -= len(self._blocks.popleft())

    def since(self, start: int) -> Pcm:
        """Return the samples from position `start`, as far back as they are kept."""
        recent = np.concatenate(self._blocks) if self._blocks else np.zeros(0, np.float32)
        return recent[max(0, start - (self.position - self._length)) :]
