"""The best profile that keeps up is picked, kept, and found again."""

import json
from pathlib import Path

import pytest

from engine.settings import Choice, schema
from engine.tts.voxtream.config import PROFILES
from engine.tts.voxtream.files.pick import FILE, NAMES, Pick, find_pick, judge, keep


def test_every_profile_can_be_picked_and_set() -> None:
    rule = schema()["speech.profile"].rule
    assert isinstance(rule, Choice)
    assert set(NAMES) == set(PROFILES) == set(rule.words) - {"auto"}


@pytest.mark.parametrize(
    ("rtfs", "name", "reason"),
    [
        (
            {"full": 5.0, "int8": 1.3, "int4": 0.74},
            "int4",
            "int4 keeps RTF at 0.74; int8 would need 1.30, full would need 5.00.",
        ),
        ({"int4": 0.3, "full": 0.79}, "full", "full keeps RTF at 0.79."),
        ({"int8": 0.8, "int4": 0.7}, "int4", "int4 keeps RTF at 0.70; int8 would need 0.80."),
    ],
)
def test_the_best_that_keeps_up_is_picked(rtfs: dict[str, float], name: str, reason: str) -> None:
    assert judge("cpu", rtfs) == Pick(name, "cpu", reason)


def test_when_none_keeps_up_the_built_in_voice_stays() -> None:
    pick = judge("cpu", {"full": 5.0, "int4": 0.95})
    assert pick.profile == ""
    assert "int4, needs 0.95" in pick.reason
    assert "built-in voice stays" in pick.reason


def test_a_pick_is_found_again_on_its_device_only(tmp_path: Path) -> None:
    folder = tmp_path / "not yet there"
    assert find_pick(folder, "cpu") == ""
    keep(Pick("int8", "cpu", "It is."), folder)
    assert (find_pick(folder, "cpu"), find_pick(folder, "cuda")) == ("int8", "")
    assert [file.name for file in folder.iterdir()] == [FILE]


@pytest.mark.parametrize("profile", ["int2", ["int4"]])
def test_a_profile_that_is_none_counts_as_no_pick(tmp_path: Path, profile: object) -> None:
    text = json.dumps({"profile": profile, "device": "cpu", "reason": ""})
    (tmp_path / FILE).write_text(text)
    assert find_pick(tmp_path, "cpu") == ""
