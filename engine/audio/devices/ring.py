"""A ring of samples between one writer and one consumer that must never wait.

Invariant: only the writer changes `_written`, only the consumer changes `_read`. Both are plain
integers that only grow, so neither side needs a lock. Memory is allocated once.
"""

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]


class Ring:
    """Room for `size` samples of float32; `size` is rounded up to a power of two."""

    def __init__(self, size: int) -> None:
        if size <= 0:
            raise ValueError(f"a ring needs room for at least one sample, got {size}")
        self.memory: Samples = np.zeros((power_of_two(size), 1), dtype=np.float32)  # [S, 1]
        self._written = 0
        self._read = 0

    @property
    def unread(self) -> int:
        """Samples that were published and not consumed."""
        return self._written - self._read

    def publish(self, samples: int) -> None:
        """Writer: release the next `samples` of `memory`, which are filled, to the consumer."""
        self._written += samples

    def read_into(self, out: Samples) -> int:
        """Consumer: copy up to len(out) samples; return how many. The rest of `out` is kept."""
        size = len(self.memory)
        samples = min(len(out), self.unread)
        start = self._read % size
        first = min(samples, size - start)
        out[:first] = self.memory[start : start + first, 0]
        out[first:samples] = self.memory[: samples - first, 0]
        self._read += samples
        return samples


def power_of_two(samples: int) -> int:
    """Return the smallest power of two that is not below `samples`."""
    return 1 << (samples - 1).bit_length()
