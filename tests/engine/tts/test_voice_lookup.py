"""A name or a file becomes a voice, or an error that lists what there is."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.errors import InvalidInput, ModelError, UnreadableClip
from engine.languages import SPOKEN
from engine.settings import SpeechSettings
from engine.tts import voices
from engine.tts.base import Pcm, TtsInfo, Voice
from engine.tts.registry import load, of_model, of_settings, usable
from engine.tts.voice_lookup import adopt, choose, languages_of, voice_for, voice_names
from engine.tts.voxtream.files import paths
from tests.engine.tts.test_voice_store import speech
from tests.engine.tts.voxtream.files.small_pack import write_pack
from tests.help.fakes.kokoro import write_kokoro
from tests.help.fakes.tts import FakeTts
from tests.help.process.fresh_python import prints

GRANDMA = Voice("Grandma", "fake", metadata={"clip": "x"})


@pytest.fixture(autouse=True)
def _data(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))


class CloningTts(FakeTts):
    def __init__(self, name: str = "fake", edition: str = "", recipe_version: str = "1") -> None:
        super().__init__()
        info = super().info
        self._info = replace(
            info, name=name, edition=edition, recipe_version=recipe_version, can_clone=True
        )

    @property
    def info(self) -> TtsInfo:
        return self._info

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        about = {"sample_rate": str(sample_rate), "making": self.info.recipe_version}
        return Voice("clip", self.info.voice_model, {"pcm": pcm}, about)


def recording(folder: Path) -> Path:
    path = folder / "me.wav"
    soundfile.write(path, np.full(4410, 0.25), 44_100)
    return path


@pytest.mark.parametrize("wanted", ["", "tONE"])
def test_a_name_is_found_in_any_case_and_none_is_the_default(wanted):
    assert choose(FakeTts(), wanted).name == "Tone"


class PolyglotTts(FakeTts):
    """Two voices of Spanish, one of Italian."""

    def voices(self) -> tuple[Voice, ...]:
        spoken = {"Tone": "en-us", "Dora": "es", "Noel": "es", "Chiara": "it"}
        return tuple(Voice(name, "fake", metadata={"language": spoken[name]}) for name in spoken)


@pytest.mark.parametrize(
    ("chosen", "language", "preferred", "speaks"),
    [
        ("", "en", "", "Tone"),
        ("noel", "es", "Dora", "Noel"),  # speaks it itself
        ("Tone", "es", "Noel", "Noel"),
        ("Tone", "es", "", "Dora"),  # the first one
        ("Tone", "es", "Nobody", "Dora"),
        ("Tone", "es", "Chiara", "Dora"),
        ("Noel", "en", "Grandma", "Grandma"),
        ("Noel", "en", "", "Tone"),
        ("Chiara", "fr", "Noel", None),
    ],
)
def test_a_language_is_spoken_by_the_chosen_the_preferred_or_its_first_voice(
    chosen, language, preferred, speaks
):
    model = PolyglotTts()
    voices.save(GRANDMA, voices.folder())
    voice = choose(model, chosen)
    found = voice_for(model, voice, language, preferred)
    assert (found and found.name) == speaks


def test_every_voice_that_can_be_chosen_has_a_language():
    voices.save(GRANDMA, voices.folder())
    voices.save(replace(GRANDMA, name="Abuela", metadata={"language": "es"}), voices.folder())
    found = languages_of(PolyglotTts())
    expected = {"Tone": "en", "Dora": "es", "Noel": "es", "Chiara": "it", "Grandma": "en"}
    assert found == expected | {"Abuela": "es"}
    assert found.keys() == set(voice_names(PolyglotTts()))


def test_a_kept_voice_is_found_by_its_name_and_by_its_file(tmp_path):
    voices.save(GRANDMA, voices.folder())
    stranger = voices.save(Voice("Stranger", "another"), voices.folder()).path
    elsewhere = voices.save(GRANDMA, tmp_path / "elsewhere").path
    for wanted in ("grandma", str(elsewhere)):
        assert choose(FakeTts(), wanted) == GRANDMA
    assert voice_names(FakeTts()) == ("Tone", "Grandma")
    with pytest.raises(InvalidInput, match="another"):
        choose(FakeTts(), str(stranger))


def test_what_becomes_no_voice_says_why(tmp_path):
    with pytest.raises(ModelError, match="Kokoro can"):
        choose(FakeTts(), str(recording(tmp_path)))
    with pytest.raises(UnreadableClip):
        choose(CloningTts(), str(tmp_path / "gone.wav"))
    with pytest.raises(InvalidInput) as failure:
        choose(FakeTts(), "Nobody")
    assert "Tone" in failure.value.hint


@pytest.mark.parametrize("name", ["Dr. Smith", "J. R.", "Version 2.0", "St.Mary"])
def test_a_full_stop_in_a_name_makes_no_file_of_it(name):
    with pytest.raises(InvalidInput, match="no voice called"):
        choose(FakeTts(), name)


def test_a_recording_becomes_a_kept_voice(tmp_path):
    """Encoded at its own rate."""
    made = adopt(CloningTts(), recording(tmp_path), "Grandpa")
    assert (made.metadata["sample_rate"], len(made.tensors["pcm"])) == ("44100", 4410)
    assert adopt(CloningTts(), recording(tmp_path), "").name == "me"  # the file's
    assert voice_names(CloningTts()) == ("Tone", "Grandpa", "me")
    found = choose(CloningTts(), made.name)
    assert found.name == "Grandpa"
    assert np.array_equal(found.tensors["pcm"], made.tensors["pcm"])


def test_a_recording_that_the_model_cannot_use_is_kept_for_the_one_that_can(tmp_path):
    file = tmp_path / "me.wav"
    soundfile.write(file, speech(2.0).pcm, speech(2.0).sample_rate)
    adopt(FakeTts(), file, "Grandpa")
    assert voice_names(FakeTts()) == ("Tone",)
    with pytest.raises(InvalidInput, match="Kokoro's, which does not speak now"):
        choose(FakeTts(), "Grandpa")
    with pytest.raises(InvalidInput, match="called heart already"):
        adopt(FakeTts(), file, "heart")

    kokoro = CloningTts("kokoro")
    assert voice_names(kokoro) == ("Tone", "Grandpa")
    made = choose(kokoro, "grandpa")
    assert len(made.tensors["pcm"]) == len(speech(2.0).pcm)
    (kept,) = voices.saved_voices()
    assert (kept.recipe_version, kept.has_clip) == ("1", True)


def test_no_voice_may_hide_behind_one_of_the_model_s_own(tmp_path):
    with pytest.raises(InvalidInput, match="called TONE already"):
        adopt(CloningTts(), recording(tmp_path), "TONE")
    assert voices.saved_voices() == ()


def test_a_voice_made_otherwise_is_made_again(tmp_path, monkeypatch):
    adopt(CloningTts(), recording(tmp_path), "Grandpa")
    newer = CloningTts(recipe_version="2")
    with monkeypatch.context() as patch:  # it stays as it was where it cannot be made again
        patch.setattr(voices, "load_clip", refuse)
        assert choose(newer, "grandpa").metadata["making"] == "1"
    assert choose(newer, "grandpa").metadata["making"] == "2"
    (kept,) = voices.saved_voices()
    assert voices.load(kept.path).metadata["making"] == "2"
    assert kept.has_clip


def refuse(path: Path) -> None:
    raise InvalidInput("It is damaged.")


@pytest.mark.parametrize("other", [("other", ""), ("fake", "2")])
def test_another_model_s_voice_is_made_again_and_kept(other, tmp_path):
    first, second = CloningTts(), CloningTts(*other)
    made = adopt(first, recording(tmp_path), "Grandpa")
    assert voice_names(second) == ("Tone", "Grandpa")
    again = choose(second, "grandpa")
    assert (again.name, again.model) == ("Grandpa", second.info.voice_model)
    assert np.abs(again.tensors["pcm"] - made.tensors["pcm"]).max() < 1e-4
    models = {saved.model for saved in voices.saved_voices()}
    assert models == {first.info.voice_model, second.info.voice_model}
    assert choose(first, "Grandpa").model == "fake"  # the first is still there


def test_a_voice_whose_recording_was_not_kept_must_be_added_again():
    voices.save(GRANDMA, voices.folder())
    other = CloningTts("other")
    assert voice_names(other) == ("Tone",)
    with pytest.raises(InvalidInput, match="made for 'fake', not for 'other'") as failure:
        choose(other, "Grandma")
    assert "Add it again from its recording" in failure.value.hint


# ----------------------------------------------------------------------------------- the catalogue


@pytest.mark.parametrize("engine", ["espeak", "starter"])
def test_the_files_tell_what_the_model_does(engine):
    write_pack(paths.own_folder())
    settings = SpeechSettings(engine=engine)
    model = load(settings, lambda text, fraction: None)
    told = of_model(model)
    model.close()
    assert of_settings(settings) == told


@pytest.mark.parametrize(("english_only", "count"), [(False, 37), (True, 28)])
def test_kokoros_voices_have_descriptions_and_languages(english_only, count):
    """An older version fetched those alone that speak English."""
    write_kokoro(english_only=english_only)
    catalogue = of_settings(SpeechSettings(engine="kokoro"))
    assert catalogue.own[:6] == ("Heart", "Michael", "Emma", "George", "Bella", "Fenrir")
    assert (len(set(catalogue.own)), catalogue.can_mix) == (count, True)
    assert all(catalogue.about[name].count(", ") == 2 for name in catalogue.own[:28])
    assert all("man" in catalogue.about[name] for name in catalogue.own)
    spoken = [catalogue.languages.get(name, "en") for name in catalogue.own]
    assert set(spoken) == ({"en"} if english_only else set(SPOKEN))


@pytest.mark.parametrize("broken", ["config.json", "codec.safetensors", "speaker.safetensors"])
def test_a_pack_that_is_not_whole_is_a_clear_error(broken):
    write_pack(paths.own_folder())
    (paths.own_folder() / broken).unlink()
    with pytest.raises(ModelError):
        of_settings(SpeechSettings())
    (paths.own_folder() / broken).write_bytes(b"\x10\0\0\0\0\0\0\0junk")
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
    monkeypatch.setattr(paths, "NAME", "no such pack")
    with pytest.raises(ModelError, match="not on this machine"):
        usable(SpeechSettings(engine="voxtream2"))  # asked for by name
    with caplog.at_level(logging.WARNING):
        assert usable(SpeechSettings()).own[0] == "Alan"
    assert "Until then espeak speaks." in caplog.text
