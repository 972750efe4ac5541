"""How long a voice needs for a frame that follows no other, and so how much must stay in the ring
when the rest is taken back.
"""

from collections.abc import Callable
from typing import Final

from engine.runtime.turn.playback import KEPT_MS

_MARGIN: Final = 1.5  # times what such a frame took lately
_MOST_KEPT_MS: Final = 500.0
_FORGETTING: Final = 0.8  # of the longest time, at each such frame


class Delay:
    """From begin() to end(), by a clock in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began: float | None = None
        self._longest_ms = 0.0

    @property
    def kept_ms(self) -> float:
        """What must stay in the ring, in milliseconds."""
        return min(max(KEPT_MS, _MARGIN * self._longest_ms), _MOST_KEPT_MS)

    def begin(self) -> None:
        """A frame is awaited from now on."""
        self._began = self._clock()

    def end(self) -> None:
        """It came; harmless where none was awaited."""
        if self._began is not None:
            took_ms = (self._clock() - self._began) * 1000
            self._longest_ms = max(took_ms, _FORGETTING * self._longest_ms)
            self._began = None

    def forget(self) -> None:
        """It does not come, because words are missing."""
        self._began = None
