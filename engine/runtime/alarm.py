"""Running timers, as values on a clock that is passed in.

Invariant: reads no clock; a timer rings once.
"""

from dataclasses import dataclass

from engine.llm.base import StartTimer, Timer


@dataclass(frozen=True)
class TimerSet:
    """A running timer."""

    due: float  # seconds on the caller's clock
    label: str
    text: str


class Alarm:
    """All timers of the assistant."""

    def __init__(self) -> None:
        self._timers: list[TimerSet] = []

    def start(self, timer: StartTimer, now: float) -> None:
        self._timers.append(TimerSet(now + timer.seconds, timer.label, timer.text))

    def cancel(self, label: str) -> None:
        """Cancel timers called `label`; the empty label cancels all."""
        self._timers = [timer for timer in self._timers if label and timer.label != label]

    @property
    def timers(self) -> tuple[TimerSet, ...]:
        """All that were not rung, for restore()."""
        return tuple(self._timers)

    def restore(self, timers: tuple[TimerSet, ...], now: float) -> None:
        """Go back to these, but for those whose time has come since."""
        self._timers = [timer for timer in timers if timer.due > now]

    def due(self, now: float) -> tuple[str, ...]:
        """Take out the texts of timers whose time has come, oldest first."""
        rung = sorted((t for t in self._timers if t.due <= now), key=lambda timer: timer.due)
        self._timers = [timer for timer in self._timers if timer.due > now]
        return tuple(timer.text for timer in rung)

    def wait_s(self, now: float) -> float | None:
        """Seconds until the next one rings; None when none is running."""
        return min((max(0.0, timer.due - now) for timer in self._timers), default=None)

    def running(self, now: float) -> tuple[Timer, ...]:
        return tuple(Timer(timer.label, max(0.0, timer.due - now)) for timer in self._timers)
