"""Numbers in words, with num2words as the oracle where it says the same as an American."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from engine.text.rules import numbers


def _oracle(value: int, to: str = "cardinal") -> str:
    return num2words(value, to=to).replace(",", "").replace(" and ", " ")


@given(st.integers(0, 10**15 - 1) | st.integers(0, 2000))
def test_cardinals_are_those_of_the_oracle(value: int) -> None:
    assert numbers.cardinal(value) == _oracle(value)


@given(st.integers(1, 10**12) | st.integers(1, 200))
def test_ordinals_are_those_of_the_oracle(value: int) -> None:
    assert numbers.ordinal(value) == _oracle(value, "ordinal")


@given(st.integers(1010, 2099))
def test_years_are_those_of_the_oracle(value: int) -> None:
    assert numbers.year(value) == _oracle(value, "year").replace("oh-", "oh ")


def test_numbers_nobody_can_follow_are_said_digit_by_digit() -> None:
    assert numbers.cardinal(10**15) == "one" + " zero" * 15


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-1,234.50", "minus one thousand two hundred thirty-four point five zero"),
        (".5", "point five"), ("007", "zero zero seven"), ("0", "zero"),
        ("0.05", "zero point zero five"),
    ],
)  # fmt: skip
def test_written_numbers_are_said_with_sign_and_decimals(text: str, said: str) -> None:
    assert numbers.number(text) == said


@pytest.mark.parametrize(
    ("top", "bottom", "said"),
    [
        (1, 2, "one half"), (3, 4, "three quarters"), (2, 3, "two thirds"),
        (7, 10, "seven out of ten"), (1, 64, "one over sixty-four"), (1, 0, "one over zero"),
    ],
)  # fmt: skip
def test_fractions_have_their_names(top: int, bottom: int, said: str) -> None:
    assert numbers.fraction(top, bottom) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("320", "three twenty"), ("1234", "twelve thirty-four"), ("100", "one hundred"),
        ("15", "fifteen"), ("05", "zero five"), ("707", "seven oh seven"),
        ("12345", "one two three four five"),
    ],
)  # fmt: skip
def test_figures_of_a_name_are_said_in_pairs(text: str, said: str) -> None:
    assert numbers.code(text) == said
