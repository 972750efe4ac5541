import pint
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from engine.text.rules import numbers
from engine.text.unit_table import READ_ONLY, SIGNS, UNITS


def test_every_unit_is_one_that_pint_knows():
    registry = pint.UnitRegistry(cache_folder=None)

    for unit in UNITS:
        assert registry.Quantity(1, unit.pint).units


def test_every_form_and_every_sign_names_one_unit_only():
    forms = [form.lower() for unit in UNITS for form in {f.lower() for f in unit.forms}]
    signs = [*READ_ONLY, *(sign for unit in UNITS for sign in unit.signs)]
    assert sorted(set(forms)) == sorted(forms)
    assert sorted(set(signs)) == sorted(signs) == sorted(SIGNS)


def _oracle(value: int, to: str = "cardinal") -> str:
    return num2words(value, to=to).replace(",", "").replace(" and ", " ")


@given(st.integers(0, 10**15 - 1) | st.integers(0, 2000))
def test_cardinals_are_those_of_the_oracle(value):
    assert numbers.cardinal(value) == _oracle(value)


@given(st.integers(1, 10**12) | st.integers(1, 200))
def test_ordinals_are_those_of_the_oracle(value):
    assert numbers.ordinal(value) == _oracle(value, "ordinal")


@given(st.integers(1010, 2099))
def test_years_are_those_of_the_oracle(value):
    assert numbers.year(value) == _oracle(value, "year").replace("oh-", "oh ")


def test_numbers_and_names_nobody_can_follow_are_said_figure_by_figure():
    assert numbers.cardinal(10**15) == "one" + " zero" * 15
    assert numbers.code("12345") == "one two three four five"
    assert numbers.code("05") == "zero five"
