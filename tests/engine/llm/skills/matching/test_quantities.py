import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.skills.matching.quantities import (
    duration_phrase,
    figure,
    parse_duration,
    parse_number,
)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("10", 10), ("-2.5", -2.5), ("minus 3", -3), ("a", 1), ("a 100", 100), ("half a", 0.5),
        ("half", 0.5), ("3 quarters of a", 0.75), ("2 and a half", 2.5),
        ("2 and 3 quarters", 2.75), ("1/2", 0.5), ("2 1/2", 2.5), ("a dozen", 12),
        ("banana", None), ("1/0", None), ("", None), ("9" * 40, None),
    ],
)  # fmt: skip
def test_a_number_is_understood(words, number):
    assert parse_number(words) == number


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("10 minutes", 600), ("1 hour and 30 minutes", 5400), ("half an hour", 1800),
        ("1 hour, 30 minutes and 5 seconds", 5405), ("1 and a half hours", 5400),
        ("an hour and a half", 5400), ("90 s", 90), ("10", None), ("banana minutes", None),
        ("0 minutes", None), ("-5 minutes", None), ("", None),
    ],
)  # fmt: skip
def test_a_duration_is_understood(words, seconds):
    assert parse_duration(words) == seconds


@given(st.integers(1, 10**6))
def test_a_duration_phrase_means_the_same_seconds(seconds):
    assert parse_duration(duration_phrase(seconds)) == seconds


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (84.0, "84"), (-2.0, "-2"), (1 / 3, "0.3333"), (10 / 3, "3.3333"), (0.0, "0"),
        (0.000012345, "0.00001234"), (1_000_000.0, "1,000,000"), (1234.5, "1,234.5"),
        (9999.0, "9999"), (1.2e20, "1.2 times 10 to the power of 20"),
    ],
)  # fmt: skip
def test_a_figure_is_short_enough_to_be_heard(value, written):
    assert figure(value) == written


@given(st.floats(-1e14, 1e14))
def test_a_figure_is_close_to_its_value(value):
    shown = float(figure(value).replace(",", ""))
    assert math.isclose(shown, value, rel_tol=1e-3, abs_tol=1e-12)
