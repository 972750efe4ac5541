"""`rubato voices`: what is printed, and what is asked of the library."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from app.__main__ import main
from engine import api
from engine.runtime.headless.offline_synthesis import SynthesisReport
from engine.tts import voices
from engine.tts.base import Voice
from tests.engine.tts.test_voice_store import speech
from tests.help.fakes.kokoro import write_kokoro

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "settings.toml").write_text('[speech]\nengine = "espeak"\n')
    voices.save(Voice("Grandma", "espeak"), voices.folder(), speech())
    return tmp_path


def answer(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert main(["voices", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_list_is_the_same_before_and_behind_the_action_and_a_voice_goes_and_comes_back(
    capsys, tmp_path
):
    listed = answer(capsys, "list")
    assert answer(capsys) == listed
    assert main(["voices", "--json", "list"]) == 0
    assert json.loads(capsys.readouterr().out) == listed
    assert (listed["voices"][0], listed["voices"][-1]) == ("Alan", "Grandma")
    assert answer(capsys, "remove", "grandma") == {"voice": "Grandma"}
    assert answer(capsys)["removed"] == ["Grandma"]
    assert answer(capsys, "restore", "grandma") == {"voice": "Grandma"}
    assert answer(capsys, "rename", "grandma", "Oma") == {"voice": "Oma"}
    file = str(tmp_path / f"gift{voices.SUFFIX}")
    assert answer(capsys, "export", "oma", file) == {"voice": "oma", "file": file}
    assert answer(capsys, "import", file, "--name", "Nana") == {"voice": "Nana"}
    assert answer(capsys, "remove", "nana", "--for-good") == {"voice": "Nana"}
    assert answer(capsys)["removed"] == []
    assert answer(capsys, "pace", "oma", "own") == {"voice": "Oma"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("remove", "Alan"),
        ("rename", "Nobody", "X"),
        ("pace", "Alan", "quick"),
        ("import", "gone"),
        ("mix", "New", "Alan", "Clara"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, capsys):
    assert main(["voices", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("rubato: ")


def test_a_voice_is_heard_at_its_own_pace(capsys, monkeypatch):
    heard = []

    def say(text, settings, how):
        heard.append((text, how))
        return SynthesisReport("espeak", "cpu", 1.0, 0.1, 2.5, 0, (), ())

    monkeypatch.setattr(api, "say", say)
    assert answer(capsys, "hear", "grandma", "Hi")["voice"] == "Grandma"
    answer(capsys, "pace", "grandma", "5.5")
    assert main(["voices", "hear", "grandma", "--out", "x.wav"]) == 0
    assert capsys.readouterr().out == "Grandma: 2.5 s of speech by espeak\n"
    out = Path("x.wav")
    assert heard == [
        ("Hi", api.SayOptions("Grandma")),
        (api.preview_sentence(), api.SayOptions("Grandma", "0:5.5", out=out)),
    ]


def test_two_voices_are_mixed(capsys, tmp_path):
    write_kokoro()
    (tmp_path / "settings.toml").write_text('[speech]\nengine = "kokoro"\n')
    assert answer(capsys, "mix", "Luna", "heart", "Emma", "--share", "0.7") == {"voice": "Luna"}
    main(["voices"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(maxsplit=1) == ["Heart", "American woman, warm, the most natural"]
    assert lines[-1].split(maxsplit=1) == ["Luna", "mixed of 70 % Heart, 30 % Emma"]
    assert main(["voices", "mix", "Luna", "Heart", "Emma"]) == 1
    assert "called 'Luna' already" in capsys.readouterr().err


# ------------------------------------------------------------------ voices that learn


LEARNT = api.Learnt("Anna", Path("anna.voice.safetensors"), "", "What is said.", "It is noisy.")


def test_a_recording_is_added_with_progress_on_standard_error(capsys, monkeypatch):
    def add(clip, name, text, show, *, again):
        assert (clip, name, text, again) == (Path("clip.wav"), "Anna", "What is said.", False)
        show("Learning the voice", 0.25)
        return LEARNT

    monkeypatch.setattr(api, "add_voice", add, raising=False)
    found = answer(capsys, "add", "clip.wav", "--name", "Anna", "--text", "What is said.")
    assert (found["voice"], found["file"]) == ("Anna", "anna.voice.safetensors")
    assert main(["voices", "add", "clip.wav", "--name", "Anna", "--text", "What is said."]) == 0
    assert capsys.readouterr().out == "Anna was learnt.\nIt is noisy.\n"


def test_lines_of_progress_are_json_and_a_fault_is_the_document(capsys, monkeypatch):
    def learn(name, text, show, *, again):
        show("Learning the voice", 0.25)
        raise api.errors.InvalidInput("There is no voice called '{name}'.", name=name)

    monkeypatch.setattr(api, "learn_voice", learn, raising=False)
    assert main(["voices", "learn", "Anna", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.err) == {"part": 0.25, "doing": "Learning the voice"}
    assert json.loads(captured.out)["message"] == "There is no voice called 'Anna'."


def test_a_learnt_voice_is_chosen_only_if_asked_and_a_refusal_says_why(capsys, monkeypatch):
    chosen, asked = [], []
    results = [LEARNT, LEARNT, dataclasses.replace(LEARNT, file=None, reason="It is too quiet.")]

    def learn(*_, again):
        asked.append(again)
        return results.pop(0)

    monkeypatch.setattr(api, "learn_voice", learn, raising=False)
    monkeypatch.setattr(
        api, "choose_learnt", lambda name, learnt: chosen.append(name), raising=False
    )
    assert main(["voices", "learn", "Anna"]) == 0
    assert not chosen
    assert main(["voices", "learn", "Anna", "--choose"]) == 0
    assert chosen == ["Anna"]
    assert main(["voices", "learn", "Anna", "--choose", "--again"]) == 0
    assert (chosen, asked) == (["Anna"], [False, False, True])
    assert "Anna stays as it was. It is too quiet." in capsys.readouterr().out
