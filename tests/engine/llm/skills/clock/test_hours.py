"""Times of day as people say them."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from engine.llm.skills.clock.hours import parse_moment


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
