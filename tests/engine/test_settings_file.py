"""The settings: their rules, and their file, of which nothing that a person wrote is lost."""

import errno
import json
import math
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine import settings_file
from engine.asr import pick as asr
from engine.atomic_write import replace_file
from engine.errors import InvalidInput, SettingsError
from engine.languages import SPOKEN
from engine.llm import registry as llm
from engine.settings import (
    Choice,
    SettingKey,
    Settings,
    Value,
    change,
    keys,
    load_key,
    schema,
    value_of,
)
from engine.settings.page import page
from engine.settings_file import LARGEST_BYTES, config_folder, data_folder, default_path, load, save
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
    "speech.rate": (0.99, 13.5, math.inf),
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
    assert set(SettingKey) <= set(keys())
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
    "speech": {"voice", "language", "rate", "fast", "pacing", "seed"}
    | {f"voice_{language}" for language in SPOKEN},
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


HAND_WRITTEN = """\
# my settings
[audio]
volume = 0.5  # the neighbours

[future]
wonder = "yes"

[speech]
rate = 4.0
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rubato" / "settings.toml"


@pytest.fixture
def written(path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_a_missing_file_gives_the_defaults_and_a_new_one_says_only_what_differs(path):
    assert load(path) == (Settings(), ())
    save(change(Settings(), "audio.volume", 0.5), path)
    assert path.read_text() == "[audio]\nvolume = 0.5\n"


# Some may stand in each setting: text that is hard to quote, numbers small, large and broken.
TRIED: tuple[Value, ...] = (
    *("Be kind.\n\t'Be' \"brief\".", 'USB "Hörer"\\', "https://example.org/v1", "de", "MY_KEY"),
    *("hello computer", "Ctrl+Alt+Space", "F8"),
    *(True, False, 2**63 - 1, 8800, 256, 80, 4, 3, 12.5, 3.5, 0.25),
)


@cache
def another(key: str) -> Value:
    """A value that the setting may have and by default has not."""
    rule = schema()[key].rule
    for value in (*(rule.words if isinstance(rule, Choice) else ()), *TRIED):
        with suppress(InvalidInput):
            if change(Settings(), key, value) != Settings():
                return value
    raise AssertionError(f"nothing in TRIED may stand in {key}")


FORMS = {
    "no file": None,
    "table": "[{section}]\n{name} = {value}\n",
    "inline table": "{section} = {{ {name} = {value} }} # mine\n",
    "dotted": "{section}.{name} = {value}\n",
    "apart": "[{section}]\n[later]\nx = 1\n[{section}.more]\ny = 2\n[other]\n",
}


# How a value is written depends on its kind alone: these in every form, the others in turn.
EVERY_FORM = ("audio.volume", "audio.muted", "audio.lead_ms", "speech.rate", "person.name")
WRITTEN = [
    (key, name)
    for number, key in enumerate(keys())
    for place, name in enumerate(FORMS)
    if key in EVERY_FORM or number % len(FORMS) == place
]


@pytest.mark.parametrize(("key", "form"), WRITTEN)
def test_every_setting_goes_to_the_file_and_back_again_and_again(key, form, path):
    form = FORMS[form]
    first, second = value_of(Settings(), key), another(key)
    if form is not None:
        path.parent.mkdir()
        section, _, name = key.partition(".")
        value = json.dumps(first if first is not None else 4.0)
        path.write_text(form.format(section=section, name=name, value=value))
    for value in (second, first, second):
        save(change(load(path)[0], key, value), path)
        assert value_of(load(path)[0], key) == value
    assert not list(path.parent.glob("*kept*"))


@pytest.mark.parametrize(("fast", "rate"), [("", 7.0), ("fast = true\n", 12.0)])
def test_a_rate_of_fast_speech_is_in_force_with_fast_speech_only(fast, rate, written):
    path = written(f"[speech]\nrate = 12.0\n{fast}")
    assert load(path)[0].speech.rate == rate
    save(change(load(path)[0], "audio.volume", 0.5), path)
    assert "rate = 12.0" in path.read_text()


def test_comments_order_unknown_keys_and_the_line_ends_of_windows_stay(written):
    path = written(HAND_WRITTEN)
    settings, _ = load(path)
    save(change(settings, "audio.volume", 0.25), path)
    assert path.read_text() == HAND_WRITTEN.replace("0.5", "0.25")
    save(change(load(path)[0], "speech.rate", None), path)  # own pace has no line
    assert "rate" not in path.read_text()
    path = written(b"\xef\xbb\xbf# hers\r\n[audio]\r\nvolume = 0.5\r\n")
    save(change(load(path)[0], "audio.volume", 0.75), path)
    assert path.read_bytes() == b"# hers\r\n[audio]\r\nvolume = 0.75\r\n"


def test_a_value_changed_by_hand_or_a_file_removed_meanwhile_is_kept_and_told(written):
    path = written(HAND_WRITTEN)
    base, _ = load(path)
    edited = HAND_WRITTEN.replace("0.5", "0.125") + "# later\n"
    path.write_text(edited)
    (note,) = save(change(base, "speech.rate", 5.0), path, base)
    assert path.read_text() == edited.replace("4.0", "5.0")
    assert "audio.volume" in note
    assert "next start" in note
    assert not list(path.parent.glob("*kept*"))
    path.unlink()  # removed meanwhile: the next says all that is in force
    wanted = change(base, "speech.rate", 5.0)
    assert save(wanted, path, base) == ()
    assert load(path)[0] == wanted


@pytest.mark.parametrize("ours", [0.75, 0.125], ids=["another", "the same"])
def test_of_a_value_changed_on_both_sides_ours_is_in_force_and_one_kept(written, ours):
    path = written(HAND_WRITTEN)
    base, _ = load(path)
    edited = HAND_WRITTEN.replace("0.5", "0.125")
    path.write_text(edited)
    notes = save(change(base, "audio.volume", ours), path, base)
    assert load(path)[0].audio.volume == ours
    kept = [each.read_text() for each in path.parent.glob("settings.kept-1.toml")]
    assert kept == ([edited] if ours != 0.125 else [])
    assert ["settings.kept-1.toml" in note for note in notes] == [True] * len(kept)


@pytest.mark.parametrize(
    ("content", "settings", "note"),
    [
        (
            HAND_WRITTEN,
            change(change(Settings(), "audio.volume", 0.5), "speech.rate", 4.0),
            "this version has no setting 'future.wonder'; it is kept, unused.",
        ),
        (
            '[audio]\nvolume = "loud"\nlead_ms = 100\n',
            change(Settings(), "audio.lead_ms", 100),
            "The setting 'audio.volume' cannot be 'loud'. "
            "Give a number from 0 to 1. Until then 1.0 is in force.",
        ),
        ("audio = 3\n", Settings(), "'audio' must be a table [audio]; it is not used."),
    ],
    ids=["unknown", "broken", "no table"],
)
def test_what_cannot_be_used_is_reported_and_the_default_is_used(written, content, settings, note):
    assert load(written(content)) == (settings, (f"settings.toml: {note}",))


def test_a_broken_value_stays_while_its_default_is_wanted_and_is_copied_before_it_goes(written):
    path = written('[audio]\nvolume = "loud"  # why not?\n')
    save(change(load(path)[0], "audio.lead_ms", 100), path)
    before = path.read_text()
    assert 'volume = "loud"  # why not?' in before
    save(change(load(path)[0], "audio.volume", 0.5), path)
    assert path.read_text() == before.replace('"loud"', "0.5")
    assert path.with_name("settings.kept-1.toml").read_text() == before


@pytest.mark.parametrize(
    "content",
    [
        b"[audio\nvolume = 1",
        b"\xff\xfe\x00",
        b"x = " + b"[" * 5000,
        b"# " + b"x" * LARGEST_BYTES,
        b"x = " + b"9" * 5000,
    ],
    ids=["not TOML", "not text", "nested too deep", "too large", "number too long"],
)
def test_a_broken_file_gives_the_defaults_and_is_copied_before_writing(content, written):
    path = written(content)
    settings, notes = load(path)
    assert settings == Settings()
    assert len(notes) == 1
    assert path.read_bytes() == content
    save(change(settings, "audio.volume", 0.5), path)
    assert load(path) == (change(Settings(), "audio.volume", 0.5), ())
    assert path.with_name("settings.kept-1.toml").read_bytes() == content
    written(content)
    save(Settings(), path)
    assert path.with_name("settings.kept-2.toml").read_bytes() == content  # each its own copy


def test_a_folder_in_place_of_the_file_is_reported_and_saving_says_so(path):
    path.mkdir(parents=True)
    settings, notes = load(path)
    assert settings == Settings()
    assert "is a directory" in notes[0]
    with pytest.raises(SettingsError, match="could not be saved"):
        save(settings, path)


def names_in(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name != settings_file.LOCK]


def _full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["tempfile.mkstemp", "os.fsync", "Path.replace"])
def test_a_full_disk_leaves_the_old_file_and_no_litter(call, written, monkeypatch):
    path = written(HAND_WRITTEN)
    monkeypatch.setattr(f"engine.atomic_write.{call}", _full_disk)
    with pytest.raises(SettingsError, match="no space left on device"):
        save(change(Settings(), "audio.volume", 0.25), path)
    assert path.read_text() == HAND_WRITTEN
    assert names_in(path.parent) == ["settings.toml"]


def test_a_link_stays_a_link_and_settings_made_without_the_rules_are_written(tmp_path, path):
    target = tmp_path / "dotfiles.toml"
    target.write_text("[audio]\nvolume = 0.5\n")
    path.parent.mkdir()
    path.symlink_to(target)
    save(change(load(path)[0], "audio.volume", 0.75), path)
    assert path.is_symlink()
    assert target.read_text() == "[audio]\nvolume = 0.75\n"
    wild = replace(Settings(), speech=replace(Settings().speech, engine="experimental"))
    save(wild, path)
    save(wild, path)
    assert 'engine = "experimental"' in path.read_text()


def test_the_folders_can_be_chosen_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path / "c"))
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "d"))
    assert (config_folder(), data_folder()) == (tmp_path / "c", tmp_path / "d")
    assert default_path() == tmp_path / "c" / "settings.toml"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RUBATO_CONFIG", "~/c")
    monkeypatch.setenv("RUBATO_DATA", "~nobody-of-this-name/d")
    assert config_folder() == tmp_path / "c"
    assert data_folder() == Path("~nobody-of-this-name/d")
    for name in ("RUBATO_CONFIG", "RUBATO_DATA"):
        monkeypatch.delenv(name)
    assert config_folder().name == data_folder().name == "rubato"


TABLES = ["[audio]", "[[speech]]", "{", "}", "\n", "# note"]
VALUES = ["volume", "lead_ms", "rate", "=", "0.5", ".", '"', "'''"]
FRAGMENTS = st.sampled_from(TABLES + VALUES)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.lists(FRAGMENTS, max_size=30).map(" ".join)))
def test_whatever_stands_in_the_file_a_change_is_saved_and_nothing_lost(tmp_path, content):
    raw = content if isinstance(content, bytes) else content.encode()
    for entry in tmp_path.iterdir():
        entry.unlink()
    path = tmp_path / "settings.toml"
    path.write_bytes(raw)
    settings, notes = load(path)
    save(change(settings, "audio.lead_ms", 333), path)
    again, _ = load(path)
    assert value_of(again, "audio.lead_ms") == 333
    if any("cannot be read" in note for note in notes):
        assert path.with_name("settings.kept-1.toml").read_bytes() == raw


def test_a_full_disk_while_copying_a_broken_file_leaves_it_alone(written, monkeypatch):
    path = written("[broken")
    monkeypatch.setattr(os, "fsync", _full_disk)
    with pytest.raises(SettingsError):
        save(Settings(), path)
    assert path.read_text() == "[broken"
    assert names_in(path.parent) == ["settings.toml"]


def test_two_programs_that_write_at_once_both_reach_the_file(path, monkeypatch):
    base, _ = load(path)
    other = Thread(target=save, args=(change(base, "audio.lead_ms", 100), path, base))

    def replace_late(file: Path, content: str, **options: Any) -> None:
        if not other.ident:  # the first has read the file by now
            other.start()
            other.join(0.2)
        replace_file(file, content, **options)

    monkeypatch.setattr(settings_file, "replace_file", replace_late)
    save(change(base, "audio.volume", 0.5), path, base)
    other.join()
    assert (load(path)[0].audio.volume, load(path)[0].audio.lead_ms) == (0.5, 100)
