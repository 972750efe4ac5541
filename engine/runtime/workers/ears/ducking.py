"""Makes the reply quieter at the first trace of another sound in the room.

Invariant: independent of the rules of turns, because a trace is noticed long before it is known
what it is. A mistake costs little: the reply goes on, and HOLD_S after the last trace it is as loud
as before.
"""

from collections.abc import Callable

from engine.asr.base import SAMPLE_RATE

HOLD_S = 0.25  # between two syllables, and until a detector of voice has seen enough


class Ducking:
    """Calls `duck` with True when the reply is to be quieter, with False when it no longer is."""

    def __init__(self, duck: Callable[[bool], None]) -> None:
        self._duck = duck
        self._until: int | None = None  # sample; None = the reply is as loud as it should be

    @property
    def ducking(self) -> bool:
        """Whether there was a trace just now."""
        return self._until is not None

    def look(self, trace: bool, now: int) -> None:
        """Whether there is a trace at sample `now` of the ears' count."""
        if trace:
            if self._until is None:
                self._duck(True)
            self._until = now + int(HOLD_S * SAMPLE_RATE)
        elif self._until is not None and now >= self._until:
            self._until = None
            self._duck(False)
