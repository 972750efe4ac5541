from datetime import datetime

import pytest

from tests.engine.llm.skills.asking import asked


@pytest.mark.parametrize(
    ("hour", "minute", "face"),
    [(0, 0, "12:00 AM"), (9, 5, "9:05 AM"), (12, 0, "12:00 PM"), (23, 59, "11:59 PM")],
)
def test_the_clock_has_twelve_hours(hour, minute, face):
    now = datetime(2026, 1, 5, hour, minute)
    assert asked("what time is it", now=now).text == f"It's {face}."


@pytest.mark.parametrize(
    ("said", "now", "answer"),
    [
        # a weekday means the next one even on that day
        ("how many days until friday", datetime(2026, 1, 9), "7 days"),
        # a feast may be today, or over: then it is next year
        ("how many days until christmas", datetime(2026, 12, 25), "That's today."),
        ("when is christmas", datetime(2026, 12, 26), "2027."),
        # when summer time begins tomorrow is the next day of the calendar
        ("what day is it tomorrow", datetime(2026, 3, 28, 23, 30), "March 29th"),
    ],
)
def test_a_day_is_that_of_the_calendar(said, now, answer):
    assert answer in asked(said, now=now).text
