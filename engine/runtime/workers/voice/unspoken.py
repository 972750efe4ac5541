"""A reply without a loudspeaker: it is shown, and ends as soon as all of it is written.

Invariant: accepts words like Breaks, and never makes a sound.
"""

from typing import Self

from engine.text.word import Word
from engine.tts.base import Finished, Starved, Step


class Unspoken:
    """See Breaks."""

    def __init__(self, *, ended: bool = False) -> None:
        """`ended`: no more words will come."""
        self.rate: float | None = None
        self._ended = ended

    def push(self, word: Word) -> None:
        """Do nothing: it is on the screen already."""

    def end_input(self) -> None:
        self._ended = True

    def step(self) -> Step:
        return Finished() if self._ended else Starved()

    def rewind(self, sample: int) -> int | None:
        """Nothing was made."""
        return None

    def close(self) -> None:
        """Nothing to release."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
