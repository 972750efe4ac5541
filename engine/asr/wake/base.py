"""The seam every way to find the wake phrase stands behind.

Invariant: what is found depends on the samples since the last reset alone, never on how they were
cut into blocks by more than a block's length.
"""

from typing import Protocol

from engine.audio.base import Pcm


class KeywordSpotter(Protocol):
    """Listens for one phrase; owned by one thread."""

    def push(self, pcm: Pcm) -> int | None:
        """More samples [S] at 16 kHz. How many samples ago the phrase ended, None = not heard."""
        ...

    def reset(self) -> None:
        """Forget what was heard."""
        ...
