"""Choose the loudspeaker: the requested one, another, or a silent one.

Invariant: belongs to the speaker's thread. A lost loudspeaker is waited for, unless the last one
that returned was lost at once.
"""

import math
import time
from collections.abc import Callable
from typing import Final

from engine.audio.base import Loudspeaker, SilentLoudspeaker
from engine.errors import DeviceError

# A device that fails again so soon after its replacement is frozen: one that is still the system's
# default opens well and then stalls, within 3 s. It would be opened again and again.
RELAPSE_S: Final = 15.0
# For a slipped plug, a restarting headset or sound server.
RETURNS_WITHIN_S: Final = 5.0
RETRY_S: Final = 0.5


class Loudspeakers:
    """`open_one` opens a loudspeaker by name (empty: the default), or raises DeviceError."""

    def __init__(
        self,
        open_one: Callable[[str], Loudspeaker],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open_one
        self._clock = clock
        self._lost_at = -math.inf  # the last one
        self.return_by: float | None = None  # None = not waiting

    def default(self) -> Loudspeaker:
        """Return the system's default; a silent one if there is none at all."""
        try:
            return self._open("")
        except DeviceError:
            return SilentLoudspeaker()

    def lose(self, *, waits: bool) -> Loudspeaker | None:
        """Return the replacement of a lost loudspeaker; None = wait for its return, if a reply
        `waits`.
        """
        now = self._clock()
        relapsed, self._lost_at = now - self._lost_at < RELAPSE_S, now
        instead = SilentLoudspeaker() if relapsed else self.default()
        if not waits or relapsed or not isinstance(instead, SilentLoudspeaker):
            return instead
        self.return_by = now + RETURNS_WITHIN_S
        return None

    def come_back(self, *, waits: bool) -> Loudspeaker | None:
        """Return the one that returned, a silent one if none did in time, None to wait RETRY_S."""
        assert self.return_by is not None, "lose() comes first"
        instead = self.default() if waits else SilentLoudspeaker()
        if isinstance(instead, SilentLoudspeaker) and waits and self._clock() < self.return_by:
            return None
        self.return_by = None
        return instead
