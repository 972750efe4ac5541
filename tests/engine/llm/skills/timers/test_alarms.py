"""The alarms of a day or of a time of day; an alarm or a reminder that was just set, at another
time."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engine.llm.base import Situation, StartTimer, Timer
from engine.messages.timers import CancelTimers, TimerKind
from tests.engine.llm.skills.asking import ELSEWHERE, HERE, NOW, asked

TODAY = Timer("5:00 PM alarm", 4500.0, number=1, seconds=4500, kind=TimerKind.ALARM)
ALARM = Timer("7:00 AM alarm", 54900.0, number=3, seconds=54900, kind=TimerKind.ALARM)
OTHER = Timer("8:00 AM alarm", 58500.0, number=2, kind=TimerKind.ALARM)
REMINDER = Timer("call Ben", 8100.0, 4, TimerKind.REMINDER)


def with_timers(*timers: Timer) -> Situation:
    return replace(HERE, timers=timers)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("do i have any alarms for today", "You have an alarm at 5:00 PM."),
        ("what alarms are set for tomorrow morning", "You have an alarm at 7:00 AM tomorrow."),
        ("is there an alarm for 7 am", "You have an alarm at 7:00 AM tomorrow."),
        ("do i have an alarm set for friday", "There is no such alarm."),
        ("set an alarm for 20 minutes from now", "Alarm set for 4:05 PM."),
        ("delete the first alarm", ELSEWHERE.text),  # it counts them, and names no day
    ],
)
def test_the_alarms_of_a_day_or_hour_are_told(text: str, answer: str) -> None:
    assert asked(text, here=with_timers(TODAY, ALARM)).text == answer


def test_the_alarm_of_a_day_is_cancelled() -> None:
    told = asked("cancel my alarm for tomorrow", here=with_timers(TODAY, ALARM))
    assert told.actions == (CancelTimers((ALARM.number,)),)


def test_which_timer_is_answered_only_where_it_was_asked() -> None:
    assert asked("cancel the timer", "pasta") is ELSEWHERE


def test_the_newest_alarm_gives_way_to_the_other_time() -> None:
    here = with_timers(OTHER, ALARM)
    moved = asked("wake me up at 7", "actually make it 7:30", here=here)
    assert moved.text == "Alarm set for 7:30 AM tomorrow."
    cancelled, started = moved.actions
    assert cancelled == CancelTimers((ALARM.number,))
    assert isinstance(started, StartTimer)
    assert started.label == "7:30 AM alarm"


def test_the_only_alarm_is_moved_on_its_own_and_one_of_two_is_not() -> None:
    said = "change my alarm to half past six in the morning"
    assert asked(said, here=with_timers(ALARM)).actions[0] == CancelTimers((ALARM.number,))
    two = with_timers(OTHER, ALARM)
    assert asked("change my alarm to half past six", here=two) is ELSEWHERE


def test_an_alarm_is_told_at_its_own_minute_and_not_the_one_before() -> None:
    left = with_timers(replace(ALARM, remaining_s=54899.3))
    told = asked("what alarms do I have", here=left, now=NOW + timedelta(seconds=0.7))
    assert told.text == "You have an alarm at 7:00 AM tomorrow."


def test_a_reminder_keeps_what_it_is_for() -> None:
    here = with_timers(REMINDER)
    moved = asked("remind me to call Ben at six", "make it seven", here=here)
    assert moved.text == "I'll remind you at 7:00 PM to call Ben."
    assert moved.actions[0] == CancelTimers((REMINDER.number,))
