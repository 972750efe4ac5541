"""Two voices become one between them, a voice like any other."""

import numpy as np
import pytest

from engine.errors import InvalidInput
from engine.messages.voices import Mix
from engine.settings import SpeechSettings
from engine.translatable import Translatable
from engine.tts import voices
from engine.tts.kokoro.voices import is_british, style_of
from engine.tts.voice_catalogue import VoiceCatalogue, of_settings
from engine.tts.voice_lookup import mixed
from engine.tts.voice_store import VoiceStore
from tests.fakes_kokoro import number_of, write_kokoro


@pytest.fixture
def catalogue(tmp_path, monkeypatch) -> VoiceCatalogue:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    write_kokoro()
    return of_settings(SpeechSettings(engine="kokoro"))


def test_a_share_of_each_in_the_english_of_one(catalogue, tmp_path):
    voice = mixed(Mix("heart", "EMMA", 0.25), catalogue, tmp_path)
    wanted = 0.25 * number_of("Heart") + 0.75 * number_of("Emma")
    np.testing.assert_allclose(style_of(voice), wanted, rtol=1e-6)
    assert is_british(voice)
    assert voice.model == catalogue.voice_model
    assert voice.metadata["description"] == "mixed of 25 % Heart, 75 % Emma"


def test_a_mixture_is_kept_moved_and_mixed_again(catalogue, tmp_path):
    store = VoiceStore(catalogue, tmp_path / "voices")
    assert store.mix(" Luna ", Mix("Heart", "Emma")) == "Luna"
    assert store.rename("Luna", "Lena") == "Lena"
    file = store.export("Lena", tmp_path / "gift")
    store.remove("Lena")
    assert store.read_in(file, "Lina") == "Lina"
    entry = store.entries()[-1]
    assert (entry.name, entry.usable, entry.own) == ("Lina", True, False)
    assert entry.description == "mixed of 50 % Heart, 50 % Emma"
    assert isinstance(entry.description, Translatable)
    assert entry.description.values == {"parts": "50 % Heart, 50 % Emma"}
    store.mix("Both", Mix("lina", "Michael", 0.5))
    (both,) = (each for each in voices.saved_voices(tmp_path / "voices") if each.name == "Both")
    wanted = (number_of("Heart") + number_of("Emma")) / 4 + number_of("Michael") / 2
    np.testing.assert_allclose(style_of(voices.load(both.path)), wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("mix", "name", "said"),
    [
        (Mix("Nobody", "Emma"), "New", "no voice called 'Nobody'"),
        (Mix("Heart", "Emma", 1.01), "New", "share cannot be 1.01"),
        (Mix("Heart", "Emma", float("nan")), "New", "share cannot be nan"),
        (Mix("Heart", "Emma"), "heart", "called 'heart' already"),
        (Mix("Heart", "Emma"), " ", "cannot be called"),
    ],
)
def test_what_cannot_be_mixed_is_said(mix, name, said, catalogue, tmp_path):
    with pytest.raises(InvalidInput, match=said):
        VoiceStore(catalogue, tmp_path / "voices").mix(name, mix)
    assert not (tmp_path / "voices").exists()
