"""Values that carry what they were made of."""

import ctypes
import json
import pickle
import sys
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.characters import WholeCharacters, join_surrogates
from engine.errors import EngineError, ModelError, SettingsError
from engine.machine import native_path
from engine.settings_file import read_pick, write_pick
from engine.translatable import Translatable, from_json, joined, to_json
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


TEXT = Translatable("{name} holds {what}.", name="x", what=Translatable("{count} tables", count=3))


def test_a_text_is_the_finished_sentence_and_what_it_was_made_of():
    assert TEXT == "x holds 3 tables."
    assert (TEXT.template, TEXT.values) == (
        "{name} holds {what}.",
        {"name": "x", "what": "3 tables"},
    )
    for error in (ValueError(TEXT), ModelError(TEXT)):
        found = EngineError("It failed: {error}", error=error).message.values["error"]
        assert isinstance(found, Translatable)
        assert found.template == TEXT.template


def test_a_fault_formats_both_its_texts_and_one_that_is_passed_on_keeps_its_template():
    fault = ModelError("{name} is gone.", hint="Fetch {name}.", name="{name}")
    assert (fault.message, fault.hint) == ("{name} is gone.", "Fetch {name}.")
    assert str(fault) == "{name} is gone. Fetch {name}."
    assert ModelError(fault.message, hint="Look for {name}.", name="x").message is fault.message


def test_braces_in_a_value_are_text_and_it_brings_no_signs_that_a_terminal_obeys():
    for value in ("\x1b[2J", "\x9b", "\x00", "\ud800"):
        text = Translatable("It said {words}.", words=value)
        assert text.isprintable()
        assert text != "It said ."
    fault = ModelError("It failed: {error}", hint="Ask again.", error="{secret} {} {0.x}")
    assert fault.message == "It failed: {secret} {} {0.x}"
    assert EngineError("{a server} said {this}", hint="{}").message == "{a server} said {this}"


@pytest.mark.parametrize("text", [TEXT, joined((TEXT, "Again."), "; "), Translatable("{plain}")])
def test_a_text_comes_whole_through_another_process(text):
    for got in (pickle.loads(pickle.dumps(text)), from_json(json.loads(json.dumps(to_json(text))))):
        assert isinstance(got, Translatable)
        assert (got, got.template, got.values) == (text, text.template, text.values)


def test_somebody_elses_words_are_cut_and_a_document_that_is_no_text_is_refused():
    told = Translatable("It said {words}.", words="x" * 99)
    assert from_json(to_json(told, 5)) == "It said xxxxx."
    assert to_json("plain words", 5) == "plain"
    wrong = (["{a}", {}, 1], ["{a}", {"b": "c"}], ["{a.b}", {"a": "c"}])
    for document in (None, 3, ["a"], *wrong):
        with pytest.raises(ValueError, match="it"):
            from_json(document)


@dataclass(frozen=True)
class Pick:
    engine: str
    reason: str


def test_a_reason_keeps_its_template_and_that_of_an_older_file_is_english(tmp_path):
    file = tmp_path / "pick.json"
    reason = joined((Translatable("{name} is quick.", name="Steam {x}"), Translatable("Go.")))
    write_pick(Pick("steam", reason), file, what="engine", setting="car.engine")
    found = read_pick(Pick, file)
    assert found is not None
    assert isinstance(found.reason, Translatable)
    assert (found.reason, found.reason.values) == ("Steam {x} is quick. Go.", reason.values)
    file.write_text('{"engine": "steam", "reason": "{x} is quick."}')
    assert read_pick(Pick, file) == Pick("steam", "{x} is quick.")


def test_what_is_no_pick_counts_as_none_and_one_that_cannot_be_kept_is_told(tmp_path):
    file = tmp_path / "pick.json"
    assert read_pick(Pick, file) is None
    wrong = ('{"engine": "steam"}', '{"engine": 1, "reason": ""}', '{"engine": "x", "reason": 2}')
    for text in ("", "[]", "{}", *wrong, "[" * 100_000):
        file.write_text(text)
        assert read_pick(Pick, file) is None
    with pytest.raises(SettingsError, match="choice of engine cannot be saved") as refusal:
        write_pick(
            Pick("steam", "It is quick."), file / "pick.json", what="engine", setting="car.engine"
        )
    assert "car.engine" in refusal.value.hint


HIGH, LOW = "\ud83c", "\udf89"
HALVES = st.lists(st.sampled_from([HIGH, LOW, "a", "é", "\U0001f389", ""]), max_size=8)


def test_halves_are_joined_a_lone_one_is_replaced_and_only_half_a_character_waits():
    assert join_surrogates(f"Zürich {HIGH}{LOW}") == "Zürich \U0001f389"
    assert join_surrogates(f"{LOW}a{HIGH}{HIGH}{LOW}{HIGH}") == "\ufffda\ufffd\U0001f389\ufffd"
    assert WholeCharacters().push(f"Great {HIGH}") == "Great "


@given(HALVES)
def test_cutting_the_text_elsewhere_changes_nothing(deltas):
    characters = WholeCharacters()
    pushed = "".join(map(characters.push, deltas)) + characters.end()
    assert pushed == join_surrogates("".join(deltas))
    pushed.encode()


PATH, SHORT = r"C:\Users\Jürgen\data", r"C:\Users\JRGEN~1\data"


def test_windows_names_it_in_ascii_where_its_disk_can(monkeypatch):
    answers = iter((SHORT, ""))  # "" = its disk keeps no short names

    def short_name(path: str, buffer: "ctypes.Array[ctypes.c_wchar]", size: int) -> int:
        buffer.value = next(answers)
        return len(buffer.value)

    kernel = SimpleNamespace(GetShortPathNameW=short_name)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert [native_path(PATH), native_path(PATH)] == [SHORT, PATH]
    assert native_path(r"C:\Users\Anna") == r"C:\Users\Anna"  # and is not asked
    monkeypatch.setattr(sys, "platform", "linux")  # other systems take any name
    assert native_path(Path("/srv/Jürgen/data")) == "/srv/Jürgen/data"
