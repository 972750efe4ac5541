"""Times of day as people say them."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.skills.clock.hours import parse_moment
from engine.llm.skills.matching.canonical import canonical

AFTERNOON = datetime(2026, 1, 5, 15, 45)
TODAY, TOMORROW = (2026, 1, 5), (2026, 1, 6)


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("7 am", (*TOMORROW, 7, 0)), ("five pm", (*TODAY, 17, 0)), ("at 5 p.m.", (*TODAY, 17, 0)),
        ("six thirty", (*TODAY, 18, 30)), ("3:30", (*TOMORROW, 3, 30)), ("3:50", (*TODAY, 15, 50)),
        ("17:05", (*TODAY, 17, 5)), ("half past seven tomorrow", (*TOMORROW, 7, 30)),
        ("quarter to eight", (*TODAY, 19, 45)), ("8 tonight", (*TODAY, 20, 0)),
        ("twenty past nine in the morning", (*TOMORROW, 9, 20)), ("noon", (*TOMORROW, 12, 0)),
        ("tomorrow at nine", (*TOMORROW, 9, 0)), ("tomorrow at three", (*TOMORROW, 15, 0)),
        ("tomorrow at noon", (*TOMORROW, 12, 0)), ("midnight", (*TOMORROW, 0, 0)),
        ("12 am", (*TOMORROW, 0, 0)), ("12 pm", (*TOMORROW, 12, 0)),
        ("seven o'clock", (*TODAY, 19, 0)), ("ten to one", (*TOMORROW, 0, 50)),
    ],
)  # fmt: skip
def test_the_next_such_time_is_meant(said: str, moment: tuple[int, ...]) -> None:
    assert parse_moment(canonical(said), AFTERNOON) == datetime(*moment)


@pytest.mark.parametrize(
    "said", ["", "banana", "25:00", "13 pm", "7 o'banana", "7:75", "half past", "ten minutes", "99"]
)
def test_what_is_no_time_of_day_is_none(said: str) -> None:
    assert parse_moment(canonical(said), AFTERNOON) is None


@given(
    now=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)),
    hour=st.integers(1, 12),
    minute=st.integers(0, 59),
    half=st.sampled_from(["", " am", " pm"]),
)
def test_a_moment_is_in_the_day_to_come(now: datetime, hour: int, minute: int, half: str) -> None:
    moment = parse_moment(f"{hour}:{minute:02d}{half}", now)
    assert 0 < (moment - now).total_seconds() <= 86400
    assert moment.minute == minute
    assert moment.hour % 12 == hour % 12
