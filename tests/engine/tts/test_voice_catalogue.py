"""Who a synthesiser is can be told from its files, and is what it says itself once loaded."""

import logging
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.tts.registry import load
from engine.tts.voice_catalogue import of_model, of_settings, usable
from engine.tts.voxtream.files import place
from tests.engine.tts.voxtream.files.small_pack import write_pack
from tests.fakes_kokoro import write_kokoro
from tests.fresh_python import prints


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("engine", ["espeak", "starter"])
def test_the_files_tell_what_the_model_does(engine):
    write_pack(place.own_folder())
    settings = SpeechSettings(engine=engine)
    model = load(settings, lambda text, fraction: None)
    told = of_model(model)
    model.close()
    assert of_settings(settings) == told


def test_kokoro_has_28_voices_with_descriptions():
    write_kokoro()
    catalogue = of_settings(SpeechSettings(engine="kokoro"))
    assert catalogue.own[:6] == ("Heart", "Michael", "Emma", "George", "Bella", "Fenrir")
    assert (len(set(catalogue.own)), catalogue.can_mix) == (28, True)
    assert all(catalogue.about[name].count(", ") == 2 for name in catalogue.own)


@pytest.mark.parametrize("broken", ["config.json", "codec.safetensors", "speaker.safetensors"])
def test_a_pack_that_is_not_whole_is_a_clear_error(broken):
    write_pack(place.own_folder())
    (place.own_folder() / broken).unlink()
    with pytest.raises(ModelError):
        of_settings(SpeechSettings())
    (place.own_folder() / broken).write_bytes(b"\x10\0\0\0\0\0\0\0junk")
    if broken != "speaker.safetensors":  # any bytes make an edition
        with pytest.raises(ModelError):
            of_settings(SpeechSettings())


@pytest.mark.parametrize("find", [of_settings, lambda settings: load(settings, print)])
@pytest.mark.parametrize("name", ["voxtream2-1", "voxtream2", "kokoro"])
def test_without_files_the_command_is_named(name, find):
    with pytest.raises(ModelError, match="not on this machine") as failure:
        find(SpeechSettings(engine=name))
    assert str(failure.value.hint).endswith(f"rubato models get {name}")


def test_listing_voices_imports_no_synthesiser():
    write_kokoro()
    listing = (
        "import sys; from engine.api import Settings, voices;"
        "from engine.settings import SpeechSettings;"
        "[voices(Settings(speech=SpeechSettings(name))).entries() for name in ('auto', 'kokoro')];"
        "heavy = {'torch', 'moshi', 'onnx', 'onnxruntime', 'httpx', 'av'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert prints(listing) == "[]"


def test_the_formant_voice_stands_in_for_the_default_alone(monkeypatch, caplog):
    monkeypatch.setattr(place, "NAME", "no such pack")
    with pytest.raises(ModelError, match="not on this machine"):
        usable(SpeechSettings(engine="voxtream2"))  # asked for by name
    with caplog.at_level(logging.WARNING):
        assert usable(SpeechSettings()).own[0] == "Alan"
    assert "Until then espeak speaks." in caplog.text
