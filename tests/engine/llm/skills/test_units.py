import pint

from engine.llm.skills.unit_table import UNITS


def test_every_unit_is_one_that_pint_knows():
    registry = pint.UnitRegistry(cache_folder=None)

    for unit in UNITS:
        assert registry.Quantity(1, unit.pint).units


def test_every_form_names_one_unit_only():
    forms = [form.lower() for unit in UNITS for form in {f.lower() for f in unit.forms}]

    assert sorted(set(forms)) == sorted(forms)
