"""Tells a device that fails again right after it was replaced from one that failed once.

A frozen device that is still the system's default opens well and then stands still: without this
it would be opened again and again, and the turn would never end.

Invariant: reads no clock.
"""

RELAPSE_S = 15.0  # a frozen device is noticed within 3 s of being opened again


class FlapGuard:
    """The faults of one kind of device."""

    def __init__(self) -> None:
        self._last_at: float | None = None  # None = no fault so far

    def again(self, now: float) -> bool:
        """Note a fault at `now` (seconds); whether the one before was only a moment ago."""
        last_at, self._last_at = self._last_at, now
        return last_at is not None and now - last_at < RELAPSE_S
