"""What is said to a timer that rings."""

from dataclasses import replace

import pytest

from engine.llm.base import AssistantState, StopSpeaking, Timer
from engine.llm.skills.timers.changing import ring_wish
from engine.messages.timers import SNOOZE_S, CancelTimers, ExtendTimers, TimerKind
from tests.engine.llm.skills.asking import ELSEWHERE, HERE, asked

TEA = Timer("tea", 0.0, 1, rang=True, rings=True)
ALARM = Timer("7:00 AM alarm", 54900.0, 2, TimerKind.ALARM)
RINGING = replace(HERE, timers=(TEA, ALARM))


def wish(said: str, here: AssistantState = RINGING) -> CancelTimers | ExtendTimers | None:
    """What is asked, the same in a turn of its own and into a reply."""
    answer = asked(said, here=here)
    actions = [each for each in answer.actions if isinstance(each, CancelTimers | ExtendTimers)]
    found = actions[0] if actions else None
    assert found == ring_wish(said, here)
    return found


@pytest.mark.parametrize(
    "said",
    [
        *("stop", "Stop it!", "dismiss", "I'm up.", "I'm awake", "Okay, stop.", "be quiet"),
        *("turn off the alarm", "Stop the timer, please.", "enough", "okay I'm up", "turn it off"),
        "thank you",
    ],
)
def test_it_is_dismissed(said):
    assert wish(said) == CancelTimers((1,))


@pytest.mark.parametrize(
    "said", ["¡Basta!", "Apaga la alarma", "Fermati", "Pare!", "Arrête le réveil"]
)
def test_it_is_dismissed_in_every_language(said):
    assert ring_wish(said, RINGING) == CancelTimers((1,))


def test_it_is_snoozed_in_every_language():
    for said in (
        "Cinco minutos más",
        "Altri cinque minuti",
        "Mais cinco minutos",
        "Encore 5 minutes",
    ):
        assert ring_wish(said, RINGING) == ExtendTimers((1,), 300.0), said


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("snooze", SNOOZE_S),
        ("remind me later", SNOOZE_S),
        ("Let me sleep a little longer.", SNOOZE_S),
        ("five more minutes", 300.0),
        ("Give me ten more minutes, please.", 600.0),
        ("another five minutes", 300.0),
        ("snooze for two minutes", 120.0),
    ],
)
def test_it_is_snoozed(said, seconds):
    assert wish(said) == ExtendTimers((1,), seconds)


@pytest.mark.parametrize(
    "said", ["what time is it", "set a timer for five minutes", "stop the car"]
)
def test_other_talk_is_not_about_it(said):
    assert wish(said) is None


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
