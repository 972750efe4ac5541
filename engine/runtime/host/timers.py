"""Running timers, by wall-clock time and, if they are to survive a quit, in a file.

Invariant: a timer rings once, even after sleep or a time without the program; a late one says when
it was due. It stays until dismissed, and rings for RING_S at most. After a change of the wall
clock or the time zone, times of day follow it and durations stay. The file is complete or missing,
only its owner can read it, and a damaged one is renamed.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import assert_never

from engine import settings_file
from engine.atomic_write import replace_file, unused_name
from engine.errors import InvalidInput
from engine.llm.base import StartTimer, Timer
from engine.llm.skills.clock.hours import clock_face, follow_zone
from engine.llm.skills.matching.quantities import duration_phrase
from engine.messages.events import Event, Failed, TimerRang
from engine.messages.timers import (
    CancelTimers,
    ExtendTimers,
    PauseTimers,
    TimerCommand,
    TimerKind,
    TimersChanged,
    TimerSet,
)
from engine.translatable import Translatable
from engine.typed_values import build, read_json

LOOK_S = 1.0  # a wait stands still while the machine sleeps, and the wall clock may be set
LONGEST_S = 366 * 86400.0  # limit of all extensions
LATE_S = 5.0  # a longer delay is announced
RING_S = 600.0  # ringing time of an undismissed timer
CLOCK_SET_S = 1.0  # a larger step of the wall clock means that it was set
LARGEST_BYTES = 1024 * 1024  # of the file; a timer takes about a hundred
_FARTHEST_ZONES = timedelta(hours=26)  # largest difference of two zones
LATEST = 253_402_300_800.0  # the year 10000, in seconds since 1970


def default_path() -> Path:
    """Return the path of the file with running timers."""
    return settings_file.data_folder() / "timers.json"


def awake_or_asleep_s() -> float:
    """Return the seconds of a clock that is never set and continues while the machine sleeps."""
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):  # Linux, macOS; time.monotonic: Windows
        if hasattr(time, name):
            return time.clock_gettime(getattr(time, name))
    return time.monotonic()


class Timers:
    """All timers of the assistant. `path` None: they end with the program. `clock`: the wall clock,
    in seconds since 1970; `steady`: a clock that is never set. None: the system's; if only `clock`
    is given, it is never set.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        clock: Callable[[], float] | None = None,
        steady: Callable[[], float] | None = None,
    ) -> None:
        self._path = path
        self._clock = clock or time.time
        self._steady = steady or clock or awake_or_asleep_s
        self._offset = self._clock() - self._steady()
        self._timers: list[TimerSet] = []
        self._saved: tuple[TimerSet, ...] = ()
        self._told: tuple[TimerSet, ...] | None = None  # None = nothing reported yet

    def start(self, timer: StartTimer) -> None:
        self._follow_clock()
        number = max((each.number for each in self._timers), default=0) + 1
        due = self._clock() + timer.seconds
        started = TimerSet(due, timer.label, timer.text, number, timer.kind, timer.seconds)
        local = _local(due) if timer.by_clock else ""
        self._timers = [*self._timers, replace(started, local=local)]

    def change(self, command: TimerCommand) -> None:
        """Cancel, pause or extend timers; numbers of finished timers change nothing."""
        match command:
            case CancelTimers(numbers):
                self._timers = [each for each in self._timers if each.number not in numbers]
            case PauseTimers(numbers, on):
                self._let(numbers, lambda left_s, paused: (left_s, on))
            case ExtendTimers(numbers, seconds):
                self._let(
                    numbers,
                    lambda left_s, paused: (min(LONGEST_S, max(0.0, left_s + seconds)), paused),
                )
            case _:
                assert_never(command)

    @property
    def timers(self) -> tuple[TimerSet, ...]:
        """All timers that were not dismissed, for restore()."""
        return tuple(self._timers)

    def restore(self, timers: tuple[TimerSet, ...]) -> None:
        """Restore these timers; those that have rung since then do not ring again."""
        rang = {timer.number: timer for timer in self._timers if timer.rang_at is not None}
        self._timers = [rang.get(timer.number, timer) for timer in timers]

    def ring_due(self) -> tuple[TimerRang, ...]:
        """Let due timers ring and return them, oldest first."""
        self._follow_clock()
        now = self._clock()
        waits = (t for t in self._timers if t.paused_s is None and t.rang_at is None)
        rung = sorted((t for t in waits if t.due <= now), key=lambda timer: timer.due)
        self._timers = [
            replace(timer, rang_at=now) if timer in rung else timer for timer in self._timers
        ]
        return tuple(TimerRang(_said(timer, now), timer.number, timer.kind) for timer in rung)

    @property
    def rung(self) -> frozenset[int]:
        """Numbers of timers that have rung and were not dismissed."""
        return frozenset(each.number for each in self._timers if each.rang_at is not None)

    @property
    def sounding(self) -> frozenset[int]:
        """Numbers of timers that still sound."""
        return frozenset(each.number for each in self._timers if self._rings_s(each) > 0.0)

    def wait_s(self) -> float | None:
        """Return the seconds until the next check; None if no timer runs or rings."""
        now = self._clock()
        runs = (t.left_s(now) for t in self._timers if t.paused_s is None and t.rang_at is None)
        rings = (left_s for t in self._timers if (left_s := self._rings_s(t)) > 0.0)
        return min((min(LOOK_S, left_s) for left_s in (*runs, *rings)), default=None)

    def running(self) -> tuple[Timer, ...]:
        """Return the timers for the skills, including paused ones and those that have rung."""
        now = self._clock()
        return tuple(
            Timer(
                each.label,
                each.left_s(now),
                each.number,
                each.kind,
                each.seconds,
                each.paused_s is not None,
                each.rang_at is not None,
                each.number in self.sounding,
            )
            for each in self._timers
        )

    def tell(self, tell: Callable[[Event], None]) -> None:
        """Write the file if it is behind, then report changes to a host: a timer that the user has
        seen survives a crash.
        """
        self.save(tell)
        if self._told != self.timers:
            self._told = self.timers
            tell(TimersChanged(self.timers))

    def load(self, tell: Callable[[Event], None]) -> None:
        """Load the timers of the file, including those that came due meanwhile. One that is damaged
        is renamed.
        """
        if self._path is None:
            return
        try:
            read = read_json(self._path, LARGEST_BYTES)["timers"]
            self._saved = tuple(_timer(each) for each in read)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            fault = InvalidInput(
                "The saved timers cannot be read ({error} in {path}).",
                hint=_set_aside(self._path),
                error=type(error).__name__,
                path=self._path,
            )
            tell(Failed.of(fault))
        self._timers = list(self._saved)

    def _let(
        self, numbers: tuple[int, ...], change: Callable[[float, bool], tuple[float, bool]]
    ) -> None:
        """Change the remaining seconds of these timers, and whether they are paused."""
        now, timers = self._clock(), []
        for timer in self._timers:
            if timer.number in numbers:
                left_s, paused = change(timer.left_s(now), timer.paused_s is not None)
                due = timer.due if paused else now + left_s
                left = left_s if paused else None
                follows = timer.local and timer.rang_at is None  # a snooze counts seconds
                local = _local(due) if follows else ""
                timer = replace(timer, due=due, paused_s=left, rang_at=None, local=local)
            timers.append(timer)
        self._timers = timers

    def _rings_s(self, timer: TimerSet) -> float:
        """Return for how many more seconds it rings; 0 or less = it does not."""
        return 0.0 if timer.rang_at is None else timer.rang_at + RING_S - self._clock()

    def _follow_clock(self) -> None:
        """Keep durations after the wall clock was set, and times of day in another time zone."""
        follow_zone()
        moved = self._clock() - self._steady() - self._offset
        self._offset += moved
        if abs(moved) > CLOCK_SET_S:
            self._timers = [_moved(timer, moved) for timer in self._timers]
        self._timers = [_in_zone(timer) for timer in self._timers]

    def save(self, tell: Callable[[Event], None]) -> None:
        """Write the file if it is behind. A fault is reported once, and the timers continue."""
        if self._path is None or self.timers == self._saved:
            return
        self._saved = self.timers
        written = [{**asdict(timer), "kind": timer.kind.value} for timer in self._saved]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, json.dumps({"timers": written}, indent=1))
        except OSError as error:
            fault = InvalidInput(
                "The timers cannot be saved in {path}: {error}.",
                hint="They ring as long as the program runs. Free some space, or make it writable.",
                path=self._path,
                error=error.strerror or error,
            )
            tell(Failed.of(fault))


def _moved(timer: TimerSet, by_s: float) -> TimerSet:
    """Return the timer after the wall clock was set `by_s` seconds ahead."""
    rang_at = None if timer.rang_at is None else timer.rang_at + by_s
    return replace(timer, due=timer.due if timer.local else timer.due + by_s, rang_at=rang_at)


def _local(due: float) -> str:
    """Return the local time at `due`, for TimerSet.local."""
    return datetime.fromtimestamp(due).isoformat()


def _local_difference(timer: TimerSet) -> timedelta:
    """Return the difference of the local times that the timer was set for and is due at."""
    return datetime.fromisoformat(timer.local) - datetime.fromtimestamp(timer.due)


def _in_zone(timer: TimerSet) -> TimerSet:
    """Return the timer with the due time of its local time in the present zone."""
    waits = timer.local and timer.paused_s is None and timer.rang_at is None
    if not waits or not _local_difference(timer):  # 0 in both copies of a repeated hour
        return timer
    return replace(timer, due=datetime.fromisoformat(timer.local).timestamp())


def _said(timer: TimerSet, now: float) -> str:
    """Return a timer's announcement: an alarm says the time, a late timer when it was due."""
    due, late_s = datetime.fromtimestamp(timer.due), now - timer.due
    face = clock_face(due)
    if late_s < LATE_S:
        return f"It's {face}. {timer.text}" if timer.kind is TimerKind.ALARM else timer.text
    ago = duration_phrase(late_s if late_s < 60 else late_s // 60 * 60)
    return f"{timer.text} It was due at {face}, {ago} ago."


def _timer(content: object) -> TimerSet:
    """Parse a timer. ValueError."""
    timer = build(TimerSet, content, ignore_unknown=True)
    times = (timer.due, timer.seconds, timer.paused_s or 0.0, timer.rang_at or 0.0)
    if not all(0 <= each <= LATEST for each in times):
        raise ValueError("a time is out of range")
    if timer.local and abs(_local_difference(timer)) > _FARTHEST_ZONES:
        raise ValueError("the local time does not fit the due time")
    return timer


def _set_aside(path: Path) -> Translatable:
    """Rename the file, so that it is not overwritten; return a sentence with its name."""
    kept = unused_name(path)
    try:
        path.rename(kept)
    except OSError as error:
        return Translatable(
            "Set them again. The file could not be set aside: {error}.",
            error=error.strerror or error,
        )
    return Translatable("Set them again. The file is kept as {name}.", name=kept.name)
