"""Commands and events about timers, alarms and reminders.

Invariant: a timer keeps its number for as long as it runs, over a restart too.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

SNOOZE_S: Final = 540.0  # nine minutes, as alarm clocks do


class TimerKind(Enum):
    """What a running timer is to the person."""

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
    """Stop the timers with these numbers, or with `on` False let them run on."""

    numbers: tuple[int, ...]
    on: bool = True


@dataclass(frozen=True)
class ExtendTimers:
    """Let the timers with these numbers ring so many seconds later; sooner where negative. One
    that has rung is snoozed: it rings again so many seconds from now.
    """

    numbers: tuple[int, ...]
    seconds: float


TimerCommand = CancelTimers | PauseTimers | ExtendTimers

# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class TimerSet:
    """A running timer: when it rings, what it is called (empty: nothing), what is said then, and
    how long it was set for (0 = not known). `paused_s`: what was left when it was paused, whatever
    `due` says; None = it runs. `local`: the local time it is for (2026-11-28T07:00:00), which it
    keeps when the wall clock is set or the time zone changes; empty = it counts seconds. `rang_at`:
    when it began to ring; None = it has not.
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
        """Seconds until it rings; `now` is seconds since 1970."""
        return max(0.0, self.due - now) if self.paused_s is None else self.paused_s


@dataclass(frozen=True)
class TimersChanged:
    """All timers that run, are paused, or have rung and were not dismissed, told at the start and
    after each change.
    """

    timers: tuple[TimerSet, ...]


TimerEvent = TimersChanged
