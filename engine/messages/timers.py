"""Commands and events about timers, alarms and reminders.

Invariant: a timer keeps its number for as long as it runs, over a restart too.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

SNOOZE_S: Final = 540.0  # nine minutes, as alarm clocks do


class TimerKind(Enum):
    """Kind of a running timer."""

    TIMER = "timer"
    ALARM = "alarm"
    REMINDER = "reminder"


# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class CancelTimers:
    """Cancel the timers with these numbers; one that has rung is dismissed."""

    numbers: tuple[int, ...]


@dataclass(frozen=True)
class PauseTimers:
    """Pause the timers with these numbers, or with `on` False resume them."""

    numbers: tuple[int, ...]
    on: bool = True


@dataclass(frozen=True)
class ExtendTimers:
    """Delay the timers with these numbers by `seconds`; negative: make them ring sooner. One that
    has rung is snoozed: it rings again `seconds` from now.
    """

    numbers: tuple[int, ...]
    seconds: float


TimerCommand = CancelTimers | PauseTimers | ExtendTimers

# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class TimerSet:
    """A running timer: when it rings, its name (empty: none), its spoken text, and its set duration
    (0 = unknown). `paused_s`: the remaining seconds of a paused timer, whatever `due` is; None = it
    runs. `local`: its local time of day (2026-11-28T07:00:00), kept when the wall clock or the time
    zone changes; empty = it counts seconds. `rang_at`: when it began to ring; None = it has not.
    """

    due: float  # seconds since 1970
    label: str
    text: str
    number: int = 0
    kind: TimerKind = TimerKind.TIMER
    seconds: float = 0.0
    paused_s: float | None = None
    local: str = ""
    rang_at: float | None = None  # seconds since 1970

    def left_s(self, now: float) -> float:
        """Return the seconds until it rings; `now` is seconds since 1970."""
        return max(0.0, self.due - now) if self.paused_s is None else self.paused_s


@dataclass(frozen=True)
class TimersChanged:
    """All timers that run, are paused, or have rung and were not dismissed; sent at the start and
    after each change.
    """

    timers: tuple[TimerSet, ...]


TimerEvent = TimersChanged
