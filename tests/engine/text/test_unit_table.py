import pint
import pytest

from engine.text.unit_table import READ_ONLY, SIGNS, UNITS


def test_every_unit_is_one_that_pint_knows():
    registry = pint.UnitRegistry(cache_folder=None)

    for unit in UNITS:
        assert registry.Quantity(1, unit.pint).units


def test_every_form_names_one_unit_only():
    forms = [form.lower() for unit in UNITS for form in {f.lower() for f in unit.forms}]

    assert sorted(set(forms)) == sorted(forms)


def test_every_sign_is_in_the_table_once():
    signs = [*READ_ONLY, *(sign for unit in UNITS for sign in unit.signs)]

    assert sorted(set(signs)) == sorted(signs) == sorted(SIGNS)


@pytest.mark.parametrize(
    ("sign", "name"),
    [
        ("µm", "micrometer"),
        ("sqft", "square foot"),
        ("cc", "cubic centimeter"),
        ("ly", "light-year"),
    ],
)
def test_a_sign_is_read_as_americans_spell_it(sign: str, name: str):
    assert SIGNS[sign] == name
