"""Numbers in words, with num2words as the oracle where it says the same as an American."""

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


def test_a_name_with_too_many_figures_is_said_figure_by_figure() -> None:
    assert numbers.code("12345") == "one two three four five"
    assert numbers.code("05") == "zero five"
