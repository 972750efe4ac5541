"""Distinguish a device that fails again right after its replacement from one that failed once.

A frozen device that is still the system's default opens well and then stalls. Without this check it
would be opened again and again, and the turn would never end. Invariant: reads no clock.
"""

RELAPSE_S = 15.0  # a frozen device is noticed within 3 s of being reopened


class FlapGuard:
    """The faults of one kind of device."""

    def __init__(self) -> None:
        self._last_at: float | None = None  # None = no fault so far

    def again(self, now: float) -> bool:
        """Record a fault at `now` (seconds); return whether the last one was very recent."""
        last_at, self._last_at = self._last_at, now
        return last_at is not None and now - last_at < RELAPSE_S
