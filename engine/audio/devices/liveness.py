"""Tells a device that stopped from one that is merely slow, when the driver says nothing.

Invariant: only time during which somebody kept looking counts. A machine that was suspended or a
program that was stopped for a minute comes back to a device that has had no chance to move yet.
"""

import time
from collections.abc import Callable

LIMIT_S = 0.7  # a live device calls every 10 to 40 ms; with the poll gaps this is under a second
# Until it has lived for a while: opening can take over half a second under load, and on a machine
# that is busy starting everything else the first calls come in fits (2 of 20 starts).
_START_LIMIT_S = 3.0
_SETTLED_S = 5.0
_LONGEST_LOOK_S = 0.2


class Liveness:
    """Watches a count that grows while the device lives."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock()
        self._count = 0
        self._still_s = self._lived_s = 0.0

    def stalled(self, count: int) -> bool:
        """Whether `count` stood still too long. Look at least five times a second."""
        now = self._clock()
        watched_s, self._at = min(now - self._at, _LONGEST_LOOK_S), now
        if count != self._count:
            self._count, self._still_s = count, 0.0
            self._lived_s += watched_s
            return False
        self._still_s += watched_s
        return self._still_s > (LIMIT_S if self._lived_s > _SETTLED_S else _START_LIMIT_S)
