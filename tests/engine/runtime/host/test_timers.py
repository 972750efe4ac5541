import json
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.llm.base import StartTimer, Timer
from engine.messages.events import Event, Failed
from engine.messages.timers import (
    SNOOZE_S,
    CancelTimers,
    ExtendTimers,
    PauseTimers,
    TimerKind,
    TimersChanged,
    TimerSet,
)
from engine.runtime.host.timers import LOOK_S, RING_S, Timers, awake_or_asleep_s
from tests.engine.llm.skills.asking import BERLIN


class Wall:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def wall() -> Wall:
    return Wall()


def alarm_with(wall: Wall, *timers: tuple[float, str], path: Path | None = None) -> Timers:
    alarm = Timers(path, clock=wall)
    for seconds, label in timers:
        alarm.start(StartTimer(seconds, label, f"{label} is over."))
    return alarm


def rung(alarm: Timers) -> tuple[str, ...]:
    return tuple(each.text for each in alarm.ring_due())


def face_at(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%I:%M %p}".lstrip("0")


def test_timers_ring_once_when_their_time_has_come_in_its_order(wall):
    alarm = alarm_with(wall, (9, "late"), (7, "early"))
    wall.now = 106.9
    assert rung(alarm) == ()
    wall.now = 110.0
    assert rung(alarm) == ("early is over.", "late is over.")
    assert rung(alarm) == ()


@pytest.mark.parametrize(
    ("late_s", "said"),
    [
        (4.9, "tea is over."),
        (40.0, "tea is over. It was due at {face}, 40 seconds ago."),
        (119.0, "tea is over. It was due at {face}, 1 minute ago."),
        (7530.0, "tea is over. It was due at {face}, 2 hours and 5 minutes ago."),
    ],
)
def test_a_timer_that_came_due_while_the_machine_slept_says_when_that_was(wall, late_s, said):
    alarm = alarm_with(wall, (600, "tea"))
    wall.now += 600 + late_s
    assert rung(alarm) == (said.format(face=face_at(700.0)),)


def test_an_alarm_says_the_time_at_which_it_rings_also_after_a_snooze(wall):
    alarm = Timers(clock=wall)
    alarm.start(StartTimer(9, "alarm", "This is your alarm.", TimerKind.ALARM, by_clock=True))
    wall.now += 9
    assert rung(alarm) == (f"It's {face_at(109.0)}. This is your alarm.",)
    alarm.change(ExtendTimers((1,), SNOOZE_S))
    assert alarm.sounding == frozenset()
    wall.now += SNOOZE_S
    assert rung(alarm) == (f"It's {face_at(109.0 + SNOOZE_S)}. This is your alarm.",)


def test_it_rings_for_ten_minutes_unless_it_is_dismissed_and_stays(wall):
    alarm = alarm_with(wall, (9, "tea"), (9, "eggs"))
    wall.now += 9
    rung(alarm)
    assert alarm.wait_s() == LOOK_S
    alarm.change(CancelTimers((1,)))
    assert alarm.sounding == alarm.rung == {2}
    wall.now += RING_S
    assert rung(alarm) == ()
    assert (alarm.sounding, alarm.rung) == (frozenset(), {2})
    assert alarm.wait_s() is None


def test_what_rings_goes_on_after_a_restart_for_what_is_left(wall, path):
    alarm = alarm_with(wall, (9, "tea"), path=path)
    wall.now += 9
    rung(alarm)
    alarm.save(untold)
    wall.now += RING_S - 60
    again = loaded(path, wall)
    assert rung(again) == ()
    assert again.sounding == {1}
    wall.now += 60
    assert again.sounding == frozenset()


@pytest.mark.parametrize("set_by_s", [3600.0, -3600.0])
def test_when_the_clock_is_set_a_time_of_day_follows_it_and_a_duration_stays(wall, set_by_s):
    steady = Wall()
    alarm = Timers(clock=wall, steady=steady)
    alarm.start(StartTimer(4000, "tea", "Tea."))
    alarm.start(StartTimer(4000, "call Ben", "Ben.", TimerKind.REMINDER, by_clock=True))
    alarm.start(StartTimer(4000, "alarm", "Up.", TimerKind.ALARM, by_clock=True))
    wall.now += set_by_s
    rung(alarm)
    tea, ben, up = (each.remaining_s for each in alarm.running())
    assert tea == 4000
    assert ben == up == 4000 - set_by_s


@pytest.fixture
def travel(monkeypatch) -> Iterator[Callable[[str], None]]:
    """Sets the machine's time zone, as another program does; it is put back afterwards."""
    yield lambda zone: monkeypatch.setenv("TZ", zone)
    monkeypatch.undo()
    time.tzset()


# In zones by their rules, so that no database is needed.
NEW_YORK = "EST5EDT,M3.2.0,M11.1.0"
TOKYO = "JST-9"


def at(zone: str, year: int, month: int, day: int, hour: int, minute: int = 0) -> float:
    return datetime(year, month, day, hour, minute, tzinfo=ZoneInfo(zone)).timestamp()


def start_at(alarm: Timers, wall: Wall, due: float, kind: TimerKind = TimerKind.ALARM) -> None:
    alarm.start(StartTimer(due - wall.now, "", "Up.", kind, by_clock=True))


@pytest.mark.parametrize("restarts", [False, True])
def test_an_alarm_rings_at_its_time_of_day_where_the_person_is(wall, path, travel, *, restarts):
    travel(BERLIN)
    wall.now = at("Europe/Berlin", 2026, 11, 27, 22)
    alarm = Timers(path, clock=wall)
    start_at(alarm, wall, at("Europe/Berlin", 2026, 11, 28, 7))
    start_at(alarm, wall, at("Europe/Berlin", 2026, 11, 28, 8), TimerKind.REMINDER)
    alarm.start(StartTimer(9 * 3600, "tea", "Tea."))
    alarm.start(StartTimer(10 * 3600, "call", "Call.", TimerKind.REMINDER))  # "in ten hours"
    alarm.save(untold)
    travel(NEW_YORK)
    if restarts:
        alarm = loaded(path, wall)
    assert rung(alarm) == ()
    assert [each.due for each in alarm.timers] == [
        at("America/New_York", 2026, 11, 28, 7),
        at("America/New_York", 2026, 11, 28, 8),
        at("Europe/Berlin", 2026, 11, 28, 7),
        at("Europe/Berlin", 2026, 11, 28, 8),
    ]
    wall.now = at("America/New_York", 2026, 11, 28, 7)
    assert rung(alarm)[-1] == "It's 7:00 AM. Up."


def test_an_alarm_whose_time_has_passed_where_the_person_is_rings_at_once(wall, travel):
    travel(BERLIN)
    wall.now = at("Europe/Berlin", 2026, 11, 28, 5)
    alarm = Timers(clock=wall)
    start_at(alarm, wall, at("Europe/Berlin", 2026, 11, 28, 7))
    travel(TOKYO)
    assert rung(alarm) == ("Up. It was due at 7:00 AM, 6 hours ago.",)


def test_there_and_back_again_an_alarm_is_as_it_was(wall, travel):
    travel(BERLIN)
    wall.now = at("Europe/Berlin", 2026, 3, 28, 12)
    alarm = Timers(clock=wall)
    start_at(alarm, wall, at("Europe/Berlin", 2026, 3, 29, 7))  # the clocks go forward before
    before = alarm.timers
    travel(NEW_YORK)
    rung(alarm)
    assert alarm.timers[0].due == at("America/New_York", 2026, 3, 29, 7)
    travel(BERLIN)
    rung(alarm)
    assert alarm.timers == before


@pytest.mark.parametrize("fold", [0, 1])
def test_an_alarm_in_the_hour_that_comes_twice_stays_in_its_half(wall, travel, fold):
    travel(BERLIN)
    wall.now = at("Europe/Berlin", 2026, 10, 24, 12)
    alarm = Timers(clock=wall)
    due = at("Europe/Berlin", 2026, 10, 25, 2) + 3600 * fold
    start_at(alarm, wall, due)
    rung(alarm)
    assert alarm.timers[0].due == due


def test_a_snooze_and_a_paused_alarm_do_not_move_with_the_zone(wall, travel):
    travel(BERLIN)
    wall.now = at("Europe/Berlin", 2026, 11, 28, 7)
    alarm = Timers(clock=wall)
    start_at(alarm, wall, wall.now)
    start_at(alarm, wall, wall.now + 3600)
    rung(alarm)
    alarm.change(ExtendTimers((1,), SNOOZE_S))
    alarm.change(PauseTimers((2,)))
    travel(NEW_YORK)
    assert rung(alarm) == ()
    assert [each.remaining_s for each in alarm.running()] == [SNOOZE_S, 3600.0]
    alarm.change(PauseTimers((2,), on=False))
    travel(TOKYO)
    rung(alarm)
    assert alarm.timers[1].due == wall.now + 3600 - 14 * 3600  # 2:00 AM in New York, in Tokyo


def test_what_rings_is_not_prolonged_when_the_clock_is_set_back(wall):
    steady = Wall()
    alarm = Timers(clock=wall, steady=steady)
    alarm.start(StartTimer(0, "tea", "Tea."))
    rung(alarm)
    wall.now -= 3600
    wall.now += RING_S
    steady.now += RING_S
    rung(alarm)
    assert alarm.sounding == frozenset()


def test_the_clock_that_nobody_sets_goes_on():
    assert 0 <= awake_or_asleep_s() <= awake_or_asleep_s()


def test_the_wait_is_for_the_next_timer_and_never_long_as_the_machine_may_sleep(wall):
    alarm = alarm_with(wall, (600, "a"), (300, "b"))
    assert alarm.wait_s() == LOOK_S
    wall.now += 299.75
    assert alarm.wait_s() == 0.25
    assert Timers(clock=wall).wait_s() is None


def test_timers_come_back_and_ring_but_not_twice(wall):
    alarm = alarm_with(wall, (9, "tea"), (3, "eggs"), (2, "rice"))
    timers = alarm.timers
    wall.now = 102.5
    assert rung(alarm) == ("rice is over.",)
    alarm.change(CancelTimers((1, 2)))
    wall.now = 104.0
    alarm.restore(timers)
    assert [timer.label for timer in alarm.running()] == ["tea", "eggs", "rice"]
    assert rung(alarm) == ("eggs is over.",)


def test_a_paused_timer_stands_still_until_it_goes_on(wall):
    alarm = alarm_with(wall, (9, "tea"), (3, "eggs"))
    alarm.change(PauseTimers((1,)))
    wall.now = 200.0
    assert rung(alarm) == (f"eggs is over. It was due at {face_at(103.0)}, 1 minute ago.",)
    alarm.change(CancelTimers((2,)))
    assert alarm.wait_s() is None
    assert alarm.running() == (Timer("tea", 9.0, 1, seconds=9, paused=True),)
    alarm.change(PauseTimers((1,), on=False))
    wall.now = 208.0
    assert alarm.running() == (Timer("tea", 1.0, 1, seconds=9),)
    wall.now = 209.0
    assert rung(alarm) == ("tea is over.",)


@pytest.mark.parametrize(("seconds", "left"), [(60.0, 69.0), (-5.0, 4.0), (-60.0, 0.0)])
@pytest.mark.parametrize("paused", [True, False])
def test_a_timer_gets_more_time_or_less(wall, seconds, left, *, paused):
    alarm = alarm_with(wall, (9, "tea"))
    alarm.change(PauseTimers((1,), paused))
    alarm.change(ExtendTimers((1,), seconds))
    assert alarm.running()[0].remaining_s == left


def test_a_host_is_told_of_the_timers_at_the_start_and_after_each_change(wall):
    alarm = alarm_with(wall)
    told: list[Event] = []
    alarm.tell(told.append)
    alarm.start(StartTimer(9, "tea", "Tea."))
    alarm.tell(told.append)
    alarm.tell(told.append)
    alarm.change(PauseTimers((1,)))
    alarm.tell(told.append)
    tea = TimerSet(109.0, "tea", "Tea.", 1, seconds=9)
    paused = replace(tea, paused_s=9.0)
    assert told == [TimersChanged(()), TimersChanged((tea,)), TimersChanged((paused,))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "timers.json"


def untold(event: Event) -> None:
    pytest.fail(f"told {event}")


def loaded(path: Path, wall: Wall) -> Timers:
    alarm = Timers(path, clock=wall)
    alarm.load(untold)
    return alarm


def test_a_timer_is_all_it_was_after_a_restart(wall, path):
    alarm = alarm_with(wall, (60, "tea"), path=path)
    alarm.start(StartTimer(90, "7:00 AM alarm", "Get up.", TimerKind.ALARM))
    alarm.change(PauseTimers((1,)))
    alarm.save(untold)
    wall.now += 30
    again = loaded(path, wall)
    assert again.timers == alarm.timers
    assert [timer.remaining_s for timer in again.running()] == [60.0, 60.0]


def test_a_file_is_written_for_its_owner_alone_and_only_when_timers_changed(wall, path):
    Timers(path, clock=wall).save(untold)
    assert not path.exists()
    alarm = alarm_with(wall, (60, "tea"), path=path)
    alarm.save(untold)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]  # nothing half written is left
    path.unlink()
    alarm.save(untold)
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00",
        b"[]",
        b'{"timers": 7}',
        b'{"timers": ["tea"]}',
        b'{"timers": [{"due": 9}]}',
        b'{"timers": [{"due": "soon", "label": "", "text": ""}]}',
        b'{"timers": [{"due": true, "label": "", "text": ""}]}',
        b'{"timers": [{"due": NaN, "label": "", "text": ""}]}',
        b'{"timers": [{"due": 1e999, "label": "", "text": ""}]}',
        b'{"timers": [{"due": 9, "label": null, "text": ""}]}',
        b"[" * 100_000,
        b'{"timers": [{"due": 9, "label": "", "text": "", "local": "seven"}]}',
        b'{"timers": [{"due": 9, "label": "", "text": "", "local": "0001-01-01"}]}',
        b'{"timers": [{"due": 9, "label": "", "text": "", "local": "1970-01-01T00:00:09+01:00"}]}',
        b'{"timers": []}' + b" " * 2_000_000,
    ],
)
def test_a_damaged_file_is_set_aside_and_told_and_new_timers_are_saved(wall, path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    told: list[Event] = []
    alarm = Timers(path, clock=wall)
    alarm.load(told.append)
    assert [type(event) for event in told] == [Failed]
    assert alarm.timers == ()
    kept = path.with_name("timers.damaged-1.json")
    assert kept.name in str(told)
    alarm.start(StartTimer(60, "tea", "tea is over."))
    alarm.save(untold)
    assert [each["label"] for each in json.loads(path.read_text())["timers"]] == ["tea"]
    path.write_text("two")
    Timers(path, clock=wall).load(told.append)
    assert path.with_name("timers.damaged-2.json").read_text() == "two"
    assert kept.read_bytes() == content


def test_timers_that_cannot_be_saved_run_on_and_it_is_told_once(wall, path):
    path.parent.write_text("a file where the folder should be")
    told: list[Event] = []
    alarm = alarm_with(wall, (60, "tea"), path=path)
    alarm.save(told.append)
    alarm.save(told.append)
    assert [type(event) for event in told] == [Failed]
    wall.now += 60
    assert rung(alarm) == ("tea is over.",)
