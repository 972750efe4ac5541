"""A table becomes a dataclass whose values have the declared types, or what is wrong is named."""

from dataclasses import dataclass, field
from enum import Enum

import pytest

from engine.typed_values import WrongValue, build, json_object, read_json, toml_table, typed


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Wheel:
    spokes: int
    colour: Colour = Colour.RED


@dataclass(frozen=True)
class Cart:
    name: str
    wheel: Wheel
    weight: float = 1.0
    span: tuple[float, float] = (0.0, 1.0)
    loads: tuple[str, ...] = ()
    owner: str | None = None
    wheels: tuple[Wheel, ...] = field(default=())


WHOLE = {
    "name": "hay",
    "wheel": {"spokes": 8, "colour": "red"},
    "weight": 2,
    "span": [1, 2.5],
    "loads": ["a", "b"],
    "owner": "Ann",
    "wheels": [{"spokes": 3}],
}


def test_a_table_becomes_a_dataclass_with_others_inside():
    cart = build(Cart, WHOLE)
    assert cart == Cart("hay", Wheel(8), 2.0, (1.0, 2.5), ("a", "b"), "Ann", (Wheel(3),))
    assert [type(value) for value in (cart.weight, *cart.span)] == [float] * 3
    assert build(Cart, WHOLE | {"owner": None, "name": "x" * 100}).owner is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"colour": 1}, "unknown key 'colour'"),
        ({"wheel": {"spokes": 1, "rim": 2}}, r"unknown key 'wheel\.rim'"),
        ({"wheel": {}}, r"lacks the key 'wheel\.spokes'"),
        ({"wheel": 4}, "'wheel' is 4, expected a section"),
        ({"wheel": {"spokes": True}}, r"'wheel\.spokes' is True, expected int"),
        ({"wheel": {"spokes": 1, "colour": "blue"}}, r"'wheel\.colour' is 'blue', expected Colour"),
        ({"name": 1.5}, "'name' is 1.5, expected str"),
        ({"weight": "heavy"}, "'weight' is 'heavy', expected float"),
        ({"span": [1.0]}, "'span' needs 2 values"),
        ({"span": 1.0}, "'span' is 1.0, expected a list"),
        ({"loads": [1]}, "'loads' is 1, expected str"),
        ({"owner": 3}, "'owner' is 3, expected str or nothing"),
        ({"owner": ["x" * 100]}, "…, expected"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(change, complaint):
    with pytest.raises(WrongValue, match=complaint):
        build(Cart, WHOLE | change)


def test_defaults_and_unknown_keys_are_the_caller_s_choice():
    with pytest.raises(WrongValue, match=r"lacks the key 'colour'"):
        build(Wheel, {"spokes": 1}, defaults=False)
    assert build(Wheel, {"spokes": 1, "rim": 2}, ignore_unknown=True) == Wheel(1)
    with pytest.raises(WrongValue) as refusal:
        build(Wheel, {"rim": 2})
    assert refusal.value.hint == "There are: colour, spokes."

    # a whole number too large for a fraction is infinite
    assert typed(float, 10**400, "weight") == -typed(float, -(10**400), "weight") == float("inf")


def test_what_is_no_plain_json_object_or_too_large_a_file_is_refused(tmp_path):
    infinite, deep = '{"a": NaN}', "[" * 100_000
    wrong = {"[1]": "not a JSON object", infinite: "NaN", deep: "deeply", "{": "Expecting"}
    for text, complaint in wrong.items():
        with pytest.raises(ValueError, match=complaint):
            json_object(text)
    assert toml_table("a = 1") == {"a": 1}
    with pytest.raises(ValueError, match="Invalid value"):
        toml_table("a = ")
    file = tmp_path / "values.json"
    file.write_bytes(b"\xef\xbb\xbf" + b'{"a": 1}')
    assert read_json(file, 100) == {"a": 1}
    with pytest.raises(ValueError, match="larger"):
        read_json(file, 10)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none.json", 10)
