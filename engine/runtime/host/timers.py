"""Running timers, on the clock on the wall and, if they are to survive a quit, in a file.

Invariant: a timer rings once, when the clock on the wall (which is passed in) says so, whether or
not the machine or the program slept meanwhile; one that could not ring in time says how late it is.
"""

import time
from collections.abc import Callable
from pathlib import Path

from engine.errors import InvalidInput
from engine.llm.base import StartTimer, Timer
from engine.llm.skills.matching.quantities import duration_phrase
from engine.messages.events import Event, Failed
from engine.runtime.host import timer_file
from engine.runtime.host.timer_file import TimerSet

LOOK_S = 1.0  # a wait stands still while the machine sleeps, and the wall's clock may be set
LATE_S = 5.0  # from here on it is said


class Timers:
    """All timers of the assistant. `path` None: they end with the program. `clock` None: the
    system's; seconds since 1970.
    """

    def __init__(
        self, path: Path | None = None, *, clock: Callable[[], float] | None = None
    ) -> None:
        self._path = path
        self._clock = clock or time.time
        self._timers: list[TimerSet] = []
        self._saved: tuple[TimerSet, ...] = ()

    def start(self, timer: StartTimer) -> None:
        due = self._clock() + timer.seconds
        self._timers = [*self._timers, TimerSet(due, timer.label, timer.text)]

    def cancel(self, label: str) -> None:
        """Cancel timers called `label`; the empty label cancels all."""
        self._timers = [timer for timer in self._timers if label and timer.label != label]

    @property
    def timers(self) -> tuple[TimerSet, ...]:
        """All that were not rung, for restore()."""
        return tuple(self._timers)

    def restore(self, timers: tuple[TimerSet, ...]) -> None:
        """Go back to these, but for those whose time has come since."""
        now = self._clock()
        self._timers = [timer for timer in timers if timer.due > now]

    def due(self) -> tuple[str, ...]:
        """Take out the texts of timers whose time has come, oldest first."""
        now = self._clock()
        rung = sorted((t for t in self._timers if t.due <= now), key=lambda timer: timer.due)
        self._timers = [timer for timer in self._timers if timer.due > now]
        return tuple(_said(timer.text, now - timer.due) for timer in rung)

    def wait_s(self) -> float | None:
        """Seconds until they must be looked at again; None when none is running."""
        now = self._clock()
        return min((min(LOOK_S, max(0.0, t.due - now)) for t in self._timers), default=None)

    def running(self) -> tuple[Timer, ...]:
        now = self._clock()
        return tuple(Timer(timer.label, max(0.0, timer.due - now)) for timer in self._timers)

    def load(self, tell: Callable[[Event], None]) -> None:
        """Go on with the timers of the file, those that came due meanwhile included."""
        try:
            self._saved = timer_file.load(self._path) if self._path else ()
        except InvalidInput as error:
            tell(Failed.of(error))
        self._timers = [*self._timers, *self._saved]

    def save(self, tell: Callable[[Event], None]) -> None:
        """Write the file if it is behind; a fault is told once, and they run on."""
        if self._path is None or self.timers == self._saved:
            return
        self._saved = self.timers
        try:
            timer_file.save(self._saved, self._path)
        except InvalidInput as error:
            tell(Failed.of(error))


def _said(text: str, late_s: float) -> str:
    if late_s < LATE_S:
        return text
    exact = late_s < 60
    return f"{text} This comes {duration_phrase(late_s if exact else late_s // 60 * 60)} late."
