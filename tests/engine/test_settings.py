"""The rules of the settings: what a value may be, and what the person reads when it may not."""

import math
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.asr import registry as asr
from engine.errors import InvalidInput
from engine.llm import registry as llm
from engine.settings import Choice, Settings, change, keys, load_key, schema, value_of
from engine.settings.page import page
from engine.tts import registry as tts

REFUSED = {
    "audio.volume": (1.01, -0.1, math.nan, 10**400, "loud", None, True),
    "audio.hands_free": (1,),
    "audio.lead_ms": (79, 240.0),
    "audio.microphone": (3, "a\0b"),
    "recogniser.engine": ("Sphinx",),
    "recogniser.patience": ("hasty",),
    "language_model.address": ("localhost:8080",),
    "language_model.key_variable": ("sk-abc123",),
    "language_model.system_prompt": ("x" * 20_001,),
    "speech.rate": (0.99, 7.5, math.inf),
    "speech.seed": (-1,),
    "window.theme": ("blue",),
    "window.talk_key": (" ",),
}


def test_a_value_that_is_not_allowed_is_refused_with_what_is():
    for key, value in ((key, value) for key, values in REFUSED.items() for value in values):
        with pytest.raises(InvalidInput) as caught:
            change(Settings(), key, value)
        assert key in caught.value.message
        assert caught.value.hint.startswith("Give ")


def test_every_field_is_a_setting_whose_default_keeps_its_rule_and_there_is_no_other():
    parts = [getattr(Settings(), item.name) for item in fields(Settings)]
    assert all(is_dataclass(part) for part in parts)
    assert len(keys()) == sum(len(fields(part)) for part in parts)
    for key in keys():
        assert change(Settings(), key, value_of(Settings(), key)) == Settings()
    volume = change(Settings(), "audio.volume", 1).audio.volume  # a whole number for a fraction
    assert (volume, type(volume)) == (1.0, float)
    with pytest.raises(InvalidInput, match=r"There is no setting 'audio\.treble'") as caught:
        change(Settings(), "audio.treble", 1.0)
    assert "audio.volume" in caught.value.hint


def test_every_engine_there_is_can_be_chosen_and_no_other():
    for key, names in (
        ("recogniser.engine", ("auto", *asr.NAMES)),
        ("language_model.engine", llm.NAMES),
        ("speech.engine", ("auto", *tts.NAMES)),
    ):
        assert set(schema()[key].rule.words) == set(names)


@given(st.sampled_from(keys()), st.one_of(st.none(), st.booleans(), st.integers(), st.floats()))
def test_any_number_is_either_taken_as_it_is_or_refused(key, value):
    try:
        changed = change(Settings(), key, value)
    except InvalidInput:
        return
    assert value_of(changed, key) == value


LIVE = {
    "recogniser": {"language", "patience"},
    "language_model": {"system_prompt", "temperature"},
    "speech": {"voice", "rate", "pacing", "seed"},
}


@pytest.mark.parametrize("section", LIVE)
def test_every_setting_of_a_part_is_live_or_some_engine_is_loaded_with_it_and_no_other(section):
    known = {key.removeprefix(f"{section}."): each for key, each in schema().items()}
    rule = known["engine"].rule
    assert isinstance(rule, Choice)
    names = {item.name for item in fields(getattr(Settings(), section))}
    assert {name for name in names if not known[name].loaded_by} == LIVE[section] | {"engine"}
    assert all(set(known[name].loaded_by) <= set(rule.words) for name in names)
    skills = Settings().language_model
    assert load_key(skills) == load_key(replace(skills, model="a.gguf", address="http://a/v1"))


def test_the_page_of_settings_is_as_the_schema_makes_it_and_each_says_what_it_is():
    file = Path(__file__).parents[2] / "resources" / "pages" / "settings.md"
    assert file.read_text(encoding="utf-8") == page(), "run `make words`"
    assert [each.key for each in schema().values() if not each.rows and not each.about] == []
