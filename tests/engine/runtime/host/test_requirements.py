"""What cannot work is refused, and how much memory a part will take, by its files."""

import importlib.util
from pathlib import Path

import pytest

from engine import settings as rules
from engine.audio.devices.portaudio import Devices
from engine.errors import InvalidInput
from engine.runtime.host.requirements import check, size_bytes


def test_a_model_is_as_big_as_its_files_and_what_comes_along_or_is_not_there_takes_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    model = tmp_path / "a.gguf"
    model.write_bytes(bytes(1_000))
    assert size_bytes(rules.LanguageModelSettings(engine="llama", model=str(model))) == 1_000
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "vocabulary.json").write_bytes(bytes(10))
    assert size_bytes(rules.RecogniserSettings(engine="whisper", model=str(tmp_path))) == 1_010
    voice = rules.SpeechSettings(engine="voxtream2")
    assert size_bytes(voice) == 0
    for asset in ("voxtream2", "mimi"):
        (tmp_path / "models" / asset).mkdir(parents=True)
        (tmp_path / "models" / asset / "weights").write_bytes(bytes(500))
    assert size_bytes(voice) == 1_000
    for unsized in (
        rules.LanguageModelSettings(),
        rules.LanguageModelSettings(engine="llama"),
        rules.LanguageModelSettings(engine="llama", model="/nowhere/a.gguf"),
        rules.LanguageModelSettings(engine="server", model="/etc"),
        rules.RecogniserSettings(),
        rules.RecogniserSettings(engine="whisper"),
        rules.RecogniserSettings(model="/etc"),
        rules.SpeechSettings(),
        rules.SpeechSettings(engine="espeak"),
    ):
        assert size_bytes(unsized) == 0


DEVICES = Devices(("USB headset",), ("Built-in", "USB headset"))


def refusal(changes: dict[str, rules.Value], *, devices: Devices | None = None) -> str:
    """What the person reads of the last change; empty = it was taken."""
    settings = rules.Settings()
    for key, value in changes.items():
        settings = rules.change(settings, key, value)
    try:
        check(settings, list(changes)[-1], devices)
    except InvalidInput as error:
        return str(error)
    return ""


def test_a_model_file_must_be_there_and_be_one(tmp_path, monkeypatch):
    def of(engine: str, model: str | Path) -> str:
        return refusal({"language_model.engine": engine, "language_model.model": str(model)})

    model = tmp_path / "a.gguf"
    assert "There is no readable model file" in of("llama", model)
    assert "There is no readable model file" in of("llama", tmp_path)
    model.write_bytes(b"PK\3\4")
    assert "is not a GGUF model file" in of("llama", model)
    model.write_bytes(b"GGUF\3")
    assert of("llama", model) == ""
    assert of("llama", "") == ""  # not chosen yet
    assert of("server", "qwen3") == ""  # named as it likes
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "llama-cpp-python is not installed" in refusal({"language_model.engine": "llama"})


def test_a_whisper_folder_must_be_there_and_hold_a_model(tmp_path):
    assert "lacks model.bin" in refusal({"recogniser.model": str(tmp_path / "none")})
    assert "lacks model.bin" in refusal({"recogniser.model": str(tmp_path)})
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.json"):
        (tmp_path / name).write_text("{}")
    assert refusal({"recogniser.model": str(tmp_path)}) == ""
    assert refusal({"recogniser.model": ""}) == ""


def test_the_built_in_recogniser_takes_english_only():
    sphinx: dict[str, rules.Value] = {"recogniser.engine": "sphinx"}
    german: dict[str, rules.Value] = {"recogniser.language": "de"}
    assert "understands English only" in refusal({**sphinx, **german})
    assert "understands English only" in refusal({**german, **sphinx})
    assert refusal({"recogniser.engine": "whisper", **german}) == ""


def test_a_voice_that_was_not_fetched_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    fetched = {"speech.engine": "voxtream2"}
    assert "is not on this machine" in refusal(fetched)
    for asset in ("voxtream2", "mimi", "redimnet"):
        (tmp_path / "models" / asset).mkdir(parents=True)
    assert refusal(fetched) == ""


@pytest.mark.parametrize("key", ["audio.microphone", "audio.loudspeaker"])
def test_a_device_must_be_connected_where_that_is_known(key):
    assert "'Radio' is not connected" in refusal({key: "Radio"}, devices=DEVICES)
    assert refusal({key: "Radio"}, devices=None) == ""
    assert refusal({key: "USB headset"}, devices=DEVICES) == ""
    assert refusal({key: ""}, devices=DEVICES) == ""
    assert "or choose another: " in refusal({key: "Radio"}, devices=DEVICES)
    assert "another" not in refusal({key: "Radio"}, devices=Devices((), ()))
