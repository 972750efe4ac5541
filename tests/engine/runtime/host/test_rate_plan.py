"""Rates over time, as a person writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.runtime.host.rate_plan import constant, parse


def test_a_plan_changes_at_its_times() -> None:
    plan = parse("1:2, 3:6,8.5:own")
    times = (0.5, 1.0, 2.99, 3.0, 8.4, 8.5, 100.0)
    assert [plan.at(t) for t in times] == [None, 2.0, 2.0, 6.0, 6.0, None, None]
    for rate in (4.5, None):
        assert constant(rate).at(0.0) == constant(rate).at(1e6) == rate


NO_PLANS = (
    *("", "3", "0:", ":3", "0:x", "x:3", "0:2,,", "0:2;3:6"),
    *("0:0.5", "0:8", "0:nan", "nan:3", "inf:3", "-1:3"),
    *("0:2,0:3", "3:2,1:4", ",".join(f"{second}:3" for second in range(2_000))),
)


@pytest.mark.parametrize("text", NO_PLANS)
def test_what_is_no_plan_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput) as failure:
        parse(text)
    assert "0:2,3:6" in failure.value.hint


@given(st.text(max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        plan = parse(text)
    except InvalidInput:
        return
    assert plan.steps
