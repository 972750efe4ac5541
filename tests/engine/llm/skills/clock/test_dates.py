from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import Message, Role, TextDelta
from engine.llm.skills import Skills


def answer(said: str, now: datetime) -> str:
    skills = Skills(now=lambda: now, documents=Path("/nowhere"))
    deltas = skills.reply([Message(Role.USER, said)], pytest.fail)
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


@pytest.mark.parametrize(
    ("hour", "minute", "face"),
    [(0, 0, "12:00 AM"), (9, 5, "9:05 AM"), (12, 0, "12:00 PM"), (23, 59, "11:59 PM")],
)
def test_the_clock_has_twelve_hours(hour, minute, face):
    assert answer("what time is it", datetime(2026, 1, 5, hour, minute)) == f"It's {face}."


def test_a_weekday_means_the_next_one_even_on_that_day():
    friday = datetime(2026, 1, 9)

    assert answer("how many days until friday", friday).startswith("7 days")


def test_a_feast_that_is_today_is_today():
    assert answer("how many days until christmas", datetime(2026, 12, 25)) == "That's today."


def test_a_feast_that_is_over_is_next_year():
    assert answer("when is christmas", datetime(2026, 12, 26)).endswith("2027.")


def test_the_leap_day_is_found_in_a_leap_year():
    assert "February 29th, 2028" in answer("when is february 29th", datetime(2026, 1, 5))


def test_a_day_that_does_not_exist_is_no_day():
    assert "language model" in answer("when is february 30th", datetime(2026, 1, 5))


def test_tomorrow_is_the_next_calendar_day_when_summer_time_begins():
    night = datetime(2026, 3, 28, 23, 30)

    assert "March 29th" in answer("what day is it tomorrow", night)


def test_a_stretch_of_time_beyond_the_calendar_is_refused():
    assert "language model" in answer("what day is it in 999999999 days", datetime(2026, 1, 5))
