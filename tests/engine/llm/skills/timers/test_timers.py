"""Alarms of a day or hour, at another time and across a change of the clocks; ringing timers."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from engine.llm.base import AssistantState, StartTimer, StopSpeaking, Timer
from engine.llm.skills.timers.changing import ring_wish
from engine.messages.timers import SNOOZE_S, CancelTimers, ExtendTimers, TimerKind
from engine.runtime.host.timers import Timers
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import ELSEWHERE, HERE, NOW, asked, in_zone

TODAY = Timer("5:00 PM alarm", 4500.0, number=1, seconds=4500, kind=TimerKind.ALARM)
ALARM = Timer("7:00 AM alarm", 54900.0, number=3, seconds=54900, kind=TimerKind.ALARM)
OTHER = Timer("8:00 AM alarm", 58500.0, number=2, kind=TimerKind.ALARM)
REMINDER = Timer("call Ben", 8100.0, 4, TimerKind.REMINDER)


def with_timers(*timers: Timer) -> AssistantState:
    return replace(HERE, timers=timers)


@pytest.mark.parametrize(("text", "answer"), CASES["alarms"])
def test_the_alarms_of_a_day_or_hour_are_told(text, answer):
    assert asked(text, here=with_timers(TODAY, ALARM)).text == answer


def test_which_timer_is_answered_only_where_it_was_asked():
    assert asked("cancel the timer", "pasta") is ELSEWHERE


@pytest.mark.parametrize(
    ("said", "timers", "gone"),
    [
        (["cancel my alarm for tomorrow"], [TODAY, ALARM], ALARM),
        (["wake me up at 7", "actually make it 7:30"], [OTHER, ALARM], ALARM),  # the newest
        (["change my alarm to half past six in the morning"], [ALARM], ALARM),  # the only one
        (["change my alarm to half past six"], [OTHER, ALARM], None),  # one of two
        (["remind me to call Ben at six", "make it seven"], [REMINDER], REMINDER),
    ],
)
def test_an_alarm_gives_way(said, timers, gone):
    told = asked(*said, here=with_timers(*timers))
    assert told.actions[:1] == ((CancelTimers((gone.number,)),) if gone else ())


def test_what_was_just_set_is_set_for_another_time_and_keeps_what_it_is_for():
    alarm = asked("wake me up at 7", "actually make it 7:30", here=with_timers(OTHER, ALARM))
    assert alarm.text == "Alarm set for 7:30 AM tomorrow."
    started = alarm.actions[1]
    assert isinstance(started, StartTimer)
    assert started.label == "7:30 AM alarm"
    reminder = asked("remind me to call Ben at six", "make it seven", here=with_timers(REMINDER))
    assert reminder.text == "I'll remind you at 7:00 PM to call Ben."


def test_an_alarm_and_a_reminder_are_put_off():
    alarm = asked("push my alarm back by half an hour", here=with_timers(ALARM))
    assert alarm.text == "Alarm set for 7:30 AM tomorrow."
    assert alarm.actions[0] == CancelTimers((ALARM.number,))
    reminder = asked("postpone that reminder by an hour", here=with_timers(REMINDER))
    assert reminder.text == "I'll remind you at 7:00 PM to call Ben."
    assert reminder.actions == (ExtendTimers((REMINDER.number,), 3600.0),)
    late = asked("delay the alarm by 10 hours", here=with_timers(ALARM))
    assert late is ELSEWHERE  # the day would be lost


@pytest.mark.parametrize("said", ["half six", "half 6 in the morning", "half past six"])
def test_half_six_is_half_past_six(said):
    assert asked(f"wake me up tomorrow at {said}").text == "Alarm set for 6:30 AM tomorrow."


def test_an_alarm_is_told_at_its_own_minute_and_not_the_one_before():
    left = with_timers(replace(ALARM, remaining_s=54899.3))
    told = asked("what alarms do I have", here=left, now=NOW + timedelta(seconds=0.7))
    assert told.text == "You have an alarm at 7:00 AM tomorrow."


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clocks go from 2:00 to 3:00 on March 8th, 2026, and from 2:00 to 1:00 on November 1st."""
    yield from in_zone(monkeypatch, "America/New_York")


SATURDAY_IN_MARCH = datetime(2026, 3, 7, 22, 0)
SATURDAY_IN_OCTOBER = datetime(2026, 10, 31, 22, 0)
FIRST_PASS = datetime(2026, 11, 1, 1, 45)
SECOND_PASS = datetime(2026, 11, 1, 1, 10, fold=1)


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize(
    ("said", "now", "hours", "face"),
    [
        ("set an alarm for 7:30 am", SATURDAY_IN_MARCH, 8.5, "7:30 AM tomorrow"),
        ("wake me up at 7:30", SATURDAY_IN_OCTOBER, 10.5, "7:30 AM tomorrow"),
        ("remind me at 9 am to call Ben", SATURDAY_IN_MARCH, 10, "9:00 AM tomorrow"),
        ("remind me to call Ben tomorrow", SATURDAY_IN_OCTOBER, 12, "9:00 AM tomorrow"),
        ("set an alarm for 8 hours from now", SATURDAY_IN_MARCH, 8, "7:00 AM tomorrow"),
        ("set an alarm for 8 hours from now", SATURDAY_IN_OCTOBER, 8, "5:00 AM tomorrow"),
        # A skipped hour, and one that comes twice.
        ("set an alarm for 2:30 am", SATURDAY_IN_MARCH, 4.5, "3:30 AM tomorrow"),
        ("set an alarm for 1:30 am", SATURDAY_IN_OCTOBER, 3.5, "1:30 AM tomorrow"),
        ("set an alarm for 1:30 am", FIRST_PASS, 0.75, "1:30 AM"),
        ("set an alarm for 1:30 am", SECOND_PASS, 1 / 3, "1:30 AM"),
        ("set an alarm for 7:30 am", SECOND_PASS, 19 / 3, "7:30 AM"),
    ],
)
def test_an_alarm_rings_at_its_hour_across_a_change_of_the_clocks(
    said: str, now: datetime, hours: float, face: str, tmp_path: Path
) -> None:
    answer = asked(said, now=now)
    assert f" {face}" in answer.text
    started = answer.actions[0]
    assert isinstance(started, StartTimer)
    assert started.seconds == pytest.approx(hours * 3600)

    path = tmp_path / "timers.json"
    timers = Timers(path, clock=now.timestamp)
    timers.start(started)
    timers.save(lambda event: pytest.fail(f"told {event}"))
    later = datetime.fromtimestamp(now.timestamp() + hours * 1800)
    again = Timers(path, clock=later.timestamp)
    again.load(lambda event: pytest.fail(f"told {event}"))
    here = replace(HERE, timers=again.running())
    kinds = "alarms" if started.kind is TimerKind.ALARM else "reminders"
    assert (
        f" at {face.split(' tom')[0]}"
        in asked(f"what {kinds} do I have", here=here, now=later).text
    )


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize(
    ("said", "now", "answer"),
    [
        ("what time will it be in 8 hours", SATURDAY_IN_MARCH, "7:00 AM"),
        ("what time will it be in 8 hours", SATURDAY_IN_OCTOBER, "5:00 AM"),
        ("how long until 7 am", SATURDAY_IN_MARCH, "8 hours until"),
        ("how long until 7 am", SATURDAY_IN_OCTOBER, "10 hours until"),
    ],
)
def test_elapsed_time_leaves_out_a_skipped_hour_and_counts_a_doubled_one(said, now, answer):
    assert answer in asked(said, now=now).text


TEA = Timer("tea", 0.0, 1, rang=True, rings=True)
RINGING = replace(HERE, timers=(TEA, ALARM))


def wish(said: str, here: AssistantState = RINGING) -> CancelTimers | ExtendTimers | None:
    """What is asked, the same in a turn of its own and into a reply."""
    answer = asked(said, here=here)
    actions = [each for each in answer.actions if isinstance(each, CancelTimers | ExtendTimers)]
    found = actions[0] if actions else None
    assert found == ring_wish(said, here)
    return found


DISMISSED = (
    *("stop", "Stop it!", "dismiss", "I'm up.", "I'm awake", "Okay, stop.", "be quiet", "enough"),
    *("turn off the alarm", "Stop the timer, please.", "okay I'm up", "turn it off", "thank you"),
)
SNOOZED = {
    "snooze": SNOOZE_S,
    "remind me later": SNOOZE_S,
    "Let me sleep a little longer.": SNOOZE_S,
    "five more minutes": 300.0,
    "Give me ten more minutes, please.": 600.0,
    "another five minutes": 300.0,
    "snooze for two minutes": 120.0,
}
OTHER_TALK = ("what time is it", "set a timer for five minutes", "stop the car")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *((said, CancelTimers((1,))) for said in DISMISSED),
        *((said, ExtendTimers((1,), seconds)) for said, seconds in SNOOZED.items()),
        *((said, None) for said in OTHER_TALK),
    ],
)
def test_a_ringing_timer_is_dismissed_or_snoozed_by_talk_about_it(said, meant):
    assert wish(said) == meant


def test_it_is_dismissed_and_snoozed_in_every_language():
    for said in ("¡Basta!", "Apaga la alarma", "Fermati", "Pare!", "Arrête le réveil"):
        assert ring_wish(said, RINGING) == CancelTimers((1,)), said
    more = ("Cinco minutos más", "Altri cinque minuti", "Mais cinco minutos", "Encore 5 minutes")
    for said in more:
        assert ring_wish(said, RINGING) == ExtendTimers((1,), 300.0), said


def test_where_nothing_rings_the_same_words_mean_something_else():
    silent = replace(HERE, timers=(replace(TEA, rings=False), ALARM))
    for here in (HERE, silent):
        assert asked("stop", here=here).actions == (StopSpeaking(),)
        assert asked("thank you", here=here) is ELSEWHERE
        assert asked("snooze", here=here).text == "Nothing is ringing."
        assert ring_wish("stop", here) is None


@pytest.mark.parametrize("said", ["what timers do I have", "list my timers"])
def test_timers_alarms_and_reminders_are_listed_together(said):
    tea = Timer("tea", 250.0, 1, seconds=300)
    reminder = Timer("call Ben", 8100.0, 3, TimerKind.REMINDER)
    told = asked(said, here=replace(HERE, timers=(tea, ALARM, reminder))).text
    for part in ("4 minutes and 10 seconds left", "an alarm at 7:00 AM tomorrow", "to call Ben"):
        assert part in told
    assert "no timer" not in asked(said, here=replace(HERE, timers=(ALARM,))).text
    assert asked(said, here=replace(HERE, timers=())).text == "There is no timer running."


def test_what_has_rung_is_listed_and_no_longer_counted_as_running():
    assert "Your tea timer has rung." in asked("what timers do I have", here=RINGING).text
    left = asked("how much time is left", here=RINGING).text
    assert left.startswith("There is no timer running. You have an alarm")
