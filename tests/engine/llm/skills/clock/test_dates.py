"""Dates, hours and cities as people say them, and the alarms of a day or an hour."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.skills.clock.hours import parse_moment
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import asked, in_zone


@pytest.fixture(scope="module", autouse=True)
def greenwich() -> Iterator[None]:
    """A zone in which the clocks never change."""
    yield from in_zone(pytest.MonkeyPatch(), "UTC")


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from in_zone(monkeypatch, "Europe/Berlin")


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(("text", "answer"), CASES["elsewhere"])
def test_the_time_elsewhere_is_seen_from_here(text, answer):
    assert asked(text).text == answer


@pytest.mark.parametrize(("hour", "minute", "face"), CASES["twelve_hours"])
def test_the_clock_has_twelve_hours(hour, minute, face):
    now = datetime(2026, 1, 5, hour, minute)
    assert asked("what time is it", now=now).text == f"It's {face}."


@pytest.mark.parametrize(("said", "now", "answer"), CASES["days"])
def test_a_day_is_that_of_the_calendar(said, now, answer):
    assert answer in asked(said, now=now).text


@given(
    now=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)),
    hour=st.integers(1, 12),
    minute=st.integers(0, 59),
    half=st.sampled_from(["", " am", " pm"]),
)
def test_a_moment_is_in_the_day_to_come(now, hour, minute, half):
    moment = parse_moment(f"{hour}:{minute:02d}{half}", now)
    assert 0 < (moment - now).total_seconds() <= 86400
    assert moment.minute == minute
    assert moment.hour % 12 == hour % 12
