import pint

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


def test_a_sign_is_read_as_americans_spell_it():
    names = {
        "µm": "micrometer",
        "sqft": "square foot",
        "cc": "cubic centimeter",
        "ly": "light-year",
    }
    assert {sign: SIGNS[sign] for sign in names} == names
