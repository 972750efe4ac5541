"""How long a voice takes for a frame that follows no other: its first one, or one at a new rate.

So much must stay in the loudspeaker's ring when the rest is made again. Invariant: belongs to the
speaker's thread.
"""

import time

from engine.runtime.turn.playback import KEPT_MS

_MARGIN, _MOST_KEPT_MS = 1.5, 500.0  # times the delay; a hiccup of the machine must not count more
_FORGETTING = 0.97  # of the longest delay, with each such frame: some rates need more than others


class FrameDelay:
    def __init__(self) -> None:
        self._longest_ms = 0.0
        self._since: float | None = None  # None = no such frame is awaited
        self._came = False

    @property
    def kept_ms(self) -> float:
        """What stays in the ring."""
        return min(max(KEPT_MS, _MARGIN * self._longest_ms), _MOST_KEPT_MS)

    def begin(self) -> None:
        """Such a frame is asked for."""
        self._since, self._came = time.monotonic(), False

    def come(self) -> None:
        """A frame was made."""
        self._came = True

    def give_up(self) -> None:
        """It waits for words."""
        self._since = None

    def note(self) -> None:
        """Called before the next step: it ends the time of the one that made the frame."""
        if self._since is not None and self._came:
            took_ms = (time.monotonic() - self._since) * 1000
            self._longest_ms = max(took_ms, _FORGETTING * self._longest_ms)
            self._since = None
