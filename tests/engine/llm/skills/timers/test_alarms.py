"""The alarms of a day or of a time of day."""

from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import Message, Role, Situation, Timer
from engine.llm.skills.matching.intent import Answer, Occasion
from engine.llm.skills.matching.matcher import matcher
from engine.messages.timers import CancelTimers, TimerKind

NOW = datetime(2026, 1, 5, 15, 45)  # a Monday
ALARMS = (
    Timer("5:00 PM alarm", 4500.0, number=1, seconds=4500, kind=TimerKind.ALARM),
    Timer("7:00 AM alarm", 54900.0, number=2, seconds=54900, kind=TimerKind.ALARM),
)


def asked(text: str) -> Answer | None:
    here = Situation(rate=None, volume=0.5, voice="", voices=(), timers=ALARMS)
    history = [Message(Role.USER, text)]
    occasion = Occasion(lambda: NOW, lambda: here, Path("/nowhere"), history)
    return matcher().answer(text, occasion, certain_only=True)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("do i have any alarms for today", "You have an alarm at 5:00 PM."),
        ("what alarms are set for tomorrow morning", "You have an alarm at 7:00 AM tomorrow."),
        ("is there an alarm for 7 am", "You have an alarm at 7:00 AM tomorrow."),
        ("do i have an alarm set for friday", "There is no such alarm."),
    ],
)
def test_the_alarms_of_a_day_or_hour_are_told(text: str, answer: str) -> None:
    told = asked(text)
    assert told is not None
    assert told.text == answer


def test_the_alarm_of_a_day_is_cancelled() -> None:
    told = asked("cancel my alarm for tomorrow")
    assert told is not None
    assert told.actions == (CancelTimers((2,)),)


def test_an_alarm_in_a_while_rings_that_much_later() -> None:
    told = asked("set an alarm for 20 minutes from now")
    assert told is not None
    assert told.text == "Alarm set for 4:05 PM."


def test_the_ordinal_of_an_alarm_is_no_day() -> None:
    assert asked("delete the first alarm") is None
