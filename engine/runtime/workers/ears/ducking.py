"""Make the reply quieter at the first trace of another sound in the room.

Independent of the turn rules, because a trace is noticed long before its cause is known. A mistake
costs little: the reply continues, and HOLD_S after the last trace it has its old level.
"""

from collections.abc import Callable

from engine.asr.base import SAMPLE_RATE

HOLD_S = 0.25  # between two syllables, and until a voice detector has enough samples


class Ducking:
    """Calls `duck` with True to make the reply quieter, with False to restore it."""

    def __init__(self, duck: Callable[[bool], None]) -> None:
        self._duck = duck
        self._until: int | None = None  # sample; None = the reply has its normal level

    @property
    def ducking(self) -> bool:
        """Whether there was a recent trace."""
        return self._until is not None

    def look(self, trace: bool, now: int) -> None:
        """Report whether there is a trace at sample `now` of the ears' count."""
        if trace:
            if self._until is None:
                self._duck(True)
            self._until = now + int(HOLD_S * SAMPLE_RATE)
        elif self._until is not None and now >= self._until:
            self._until = None
            self._duck(False)
