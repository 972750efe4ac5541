"""An alarm or a reminder that was just set, at another time."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from engine.llm.base import Message, Role, Situation, StartTimer, Timer
from engine.llm.skills.matching.intent import Answer, Occasion
from engine.llm.skills.matching.matcher import matcher
from engine.messages.timers import CancelTimers, TimerKind

NOW = datetime(2026, 1, 5, 15, 45)
ALARM = Timer("7:00 AM alarm", 54900.0, 3, TimerKind.ALARM)
OTHER = Timer("8:00 AM alarm", 58500.0, 2, TimerKind.ALARM)
REMINDER = Timer("call Ben", 8100.0, 4, TimerKind.REMINDER)


def last(timers: tuple[Timer, ...], *said: str, now: datetime = NOW) -> Answer | None:
    """The answer to the last of these, while these timers run."""
    history: list[Message] = []
    answer = None
    situation = Situation(rate=None, volume=0.5, voice="", voices=(), timers=timers)
    for sentence in said:
        history = [*history, Message(Role.USER, sentence)]
        occasion = Occasion(lambda: now, lambda: situation, Path(), history)
        answer = matcher().answer(sentence, occasion, certain_only=True)
        history = [*history, Message(Role.ASSISTANT, answer.text if answer else "Else.")]
    return answer


def test_the_newest_alarm_gives_way_to_the_other_time() -> None:
    moved = last((OTHER, ALARM), "wake me up at 7", "actually make it 7:30")
    assert moved is not None
    assert moved.text == "Alarm set for 7:30 AM tomorrow."
    cancelled, started = moved.actions
    assert cancelled == CancelTimers((ALARM.number,))
    assert isinstance(started, StartTimer)
    assert started.label == "7:30 AM alarm"


def test_the_only_alarm_is_moved_on_its_own_and_one_of_two_is_not() -> None:
    moved = last((ALARM,), "change my alarm to half past six in the morning")
    assert moved is not None
    assert moved.actions[0] == CancelTimers((ALARM.number,))
    assert last((OTHER, ALARM), "change my alarm to half past six") is None


def test_an_alarm_is_told_at_its_own_minute_and_not_the_one_before() -> None:
    left = replace(ALARM, remaining_s=54899.3)
    told = last((left,), "what alarms do I have", now=NOW + timedelta(seconds=0.7))
    assert told is not None
    assert told.text == "You have an alarm at 7:00 AM tomorrow."


def test_a_reminder_keeps_what_it_is_for() -> None:
    moved = last((REMINDER,), "remind me to call Ben at six", "make it seven")
    assert moved is not None
    assert moved.text == "I'll remind you at 7:00 PM to call Ben."
    assert moved.actions[0] == CancelTimers((REMINDER.number,))
