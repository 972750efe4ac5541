"""The alarms of a day or hour, and one that was just set, at another time."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engine.llm.base import Situation, StartTimer, Timer
from engine.messages.timers import CancelTimers, TimerKind
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import ELSEWHERE, HERE, NOW, asked

TODAY = Timer("5:00 PM alarm", 4500.0, number=1, seconds=4500, kind=TimerKind.ALARM)
ALARM = Timer("7:00 AM alarm", 54900.0, number=3, seconds=54900, kind=TimerKind.ALARM)
OTHER = Timer("8:00 AM alarm", 58500.0, number=2, kind=TimerKind.ALARM)
REMINDER = Timer("call Ben", 8100.0, 4, TimerKind.REMINDER)


def with_timers(*timers: Timer) -> Situation:
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


def test_an_alarm_is_told_at_its_own_minute_and_not_the_one_before():
    left = with_timers(replace(ALARM, remaining_s=54899.3))
    told = asked("what alarms do I have", here=left, now=NOW + timedelta(seconds=0.7))
    assert told.text == "You have an alarm at 7:00 AM tomorrow."
