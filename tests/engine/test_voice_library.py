"""The voices as a host without a window has them."""

import logging
from pathlib import Path

import pytest

from engine.audio.clips.clip import Clip
from engine.errors import InvalidInput, ModelError
from engine.settings import Settings, SpeechSettings
from engine.tts import voices
from engine.tts.base import Voice
from engine.tts.voxtream.files import place
from engine.voice_library import VoiceLibrary
from tests.engine.tts.test_shelf import speech

FORMANT = Settings(speech=SpeechSettings(engine="espeak"))


def kept(folder: Path, name: str = "Grandma", clip: Clip | None = None) -> VoiceLibrary:
    voices.save(Voice(name, "espeak"), folder, clip)
    return VoiceLibrary(FORMANT, folder)


def test_every_action_names_the_voice_as_it_is_written(tmp_path: Path) -> None:
    library = kept(tmp_path, clip=speech())
    assert library.find("GRANDMA") == "Grandma"
    assert library.set_pace("alan", 3.0) == "Alan"
    assert library.pace("Alan") == 3.0
    path = library.export("grandma", tmp_path / "elsewhere" / "out")
    assert library.rename("grandma", "Oma") == "Oma"
    assert library.read_in(path) == "Grandma"
    assert library.remove("OMA") == "Oma"
    assert library.restore("oma") == "Oma"
    assert library.remove("oma", for_good=True) == "Oma"
    assert library.removed() == ()
    assert [entry.name for entry in library.entries() if not entry.own] == ["Grandma"]
    with pytest.raises(InvalidInput, match="no voice called"):
        library.find("Oma")


@pytest.mark.parametrize("engine", [SpeechSettings().engine, "voxtream2"])
def test_the_formant_voice_stands_in_for_the_default_alone(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(place, "NAME", "no such pack")
    settings = Settings(speech=SpeechSettings(engine=engine))
    if engine == "voxtream2":  # asked for by name
        with pytest.raises(ModelError, match="not on this machine"):
            VoiceLibrary(settings)
        return
    with caplog.at_level(logging.WARNING):
        assert VoiceLibrary(settings).entries()[0].name == "Alan"
    assert "Until then espeak speaks." in caplog.text
