"""The voice that comes with the program, from a small pack where the program looks for one."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from engine.errors import InvalidInput, ModelError
from engine.settings import SpeechSettings
from engine.tts import registry, voices
from engine.tts.base import TtsModel, Voice
from engine.tts.pack_files import config_json
from engine.tts.voice_lookup import adopt, choose, voice_names
from engine.tts.voxtream.config import STARTER as PROFILE
from engine.tts.voxtream.files import pack, place
from engine.tts.voxtream.files.loading import _formant_clip, target
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.voxtream.small_model import speak
from tests.engine.tts.voxtream.small_pack import write_pack

CPU = target("cpu", threads=1)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pack(tmp_path_factory.mktemp("pack"))


@pytest.fixture
def data(tmp_path: Path, written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a pack of the person's own."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    shutil.copytree(written, place.own_folder())
    return tmp_path


@pytest.fixture(scope="module")
def synthesiser(written: Path) -> VoxtreamSynthesiser:
    """One for the tests that only speak."""
    return pack.load_pack(written, PROFILE, CPU)


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the formant voice."""
    clip, file = _formant_clip(), tmp_path_factory.mktemp("speech") / "captain.wav"
    soundfile.write(file, clip.pcm, clip.sample_rate)
    return file


def loaded() -> TtsModel:
    return registry.load(SpeechSettings(engine="starter"), lambda text, fraction: None)


@pytest.mark.usefixtures("data")
def test_it_brings_its_named_voices_and_can_clone() -> None:
    model = loaded()
    assert model.info.name == "small-starter"
    assert [voice.name for voice in model.voices()] == ["Ada", "Bruno"]
    assert model.info.can_clone
    assert model.info.device == "cpu"


def test_the_rates_it_follows_are_those_of_its_table(written: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    shutil.copytree(written, folder)
    file = folder / pack.CONFIG_FILE
    config = pack.read_pack_config(file)
    slow = {rate: target for rate, target in config.rates.items() if rate <= 5}
    narrow = pack.PackConfig(config.name, config.shape, config.generation, slow)
    file.write_text(config_json(narrow), encoding="utf-8")
    rates = pack.load_pack(folder, PROFILE, CPU).info.rate_range
    assert rates is not None
    assert (rates.lowest, rates.highest) == (1, 5)


def test_it_tells_what_it_is(synthesiser: VoxtreamSynthesiser) -> None:
    """The laws of its sessions are held by the same sessions on a smaller model."""
    laws.a_model_tells_what_it_is(synthesiser)


def test_warming_up_changes_nothing_that_is_heard(written: Path) -> None:
    cold, warm = (pack.load_pack(written, PROFILE, CPU) for _ in range(2))
    warm.warm(warm.voices()[0])
    spoken = []
    for model in (cold, warm):
        with model.open(model.voices()[0], seed=3) as session:
            frames = speak(session, ["Good", "morning."])
            spoken.append(np.concatenate([frame.pcm for frame in frames]))
    assert np.array_equal(*spoken)


def test_a_recording_becomes_a_voice_that_speaks_after_a_new_start(
    data: Path, speech: Path
) -> None:
    made = adopt(loaded(), speech, "Captain")
    model = loaded()
    assert voice_names(model) == ("Ada", "Bruno", "Captain")
    voice = choose(model, "captain")
    assert np.array_equal(voice.tensors["codes"], made.tensors["codes"])
    with model.open(voice, seed=1) as session:
        assert speak(session, ["Good", "morning."])


def test_another_pack_makes_the_voice_again_from_its_recording(data: Path, speech: Path) -> None:
    first = loaded()
    made = adopt(first, speech, "Captain")
    write_pack(place.own_folder(), seed=2)
    second = loaded()
    assert second.info.name == first.info.name
    assert second.info.voice_model != first.info.voice_model
    voice = choose(second, "Captain")
    assert voice.model == second.info.voice_model
    assert not np.array_equal(voice.tensors["speaker"], made.tensors["speaker"])
    assert len(voices.saved_voices(voices.folder())) == 2


def test_the_weights_alone_may_change_and_voices_stay(data: Path) -> None:
    """A voice hangs on the codec and the speaker encoder, not on the network that speaks."""
    before = loaded().info.voice_model
    config = place.own_folder() / pack.CONFIG_FILE
    config.write_text(config.read_text() + "\n")
    assert loaded().info.voice_model == before


def test_the_decoder_alone_may_change_and_voices_stay(data: Path) -> None:
    before = loaded().info.voice_model
    assert edited(place.own_folder() / pack.CODEC_FILE, "decoder.leave.bias") == before
    assert edited(place.own_folder() / pack.CODEC_FILE, "encoder.enter.bias") != before


def edited(weights: Path, name: str, more: float = 0.5) -> str:
    """Add to one tensor of a file of weights; what voices are then made for."""
    with safe_open(str(weights), framework="pt") as file:
        about = file.metadata()
    tensors = load_file(weights)
    tensors[name] = tensors[name] + more
    save_file(tensors, weights, about)
    return loaded().info.voice_model


def test_without_a_pack_the_person_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(place, "NAME", "no such pack")
    with pytest.raises(ModelError, match="missing from this installation") as failure:
        loaded()
    assert "speech.engine = 'espeak'" in failure.value.hint


@pytest.mark.parametrize(
    "broken", [pack.VOICE_FILE, pack.CODEC_FILE, pack.SPEAKER_FILE, pack.PHONES_FILE]
)
@pytest.mark.parametrize("how", ["gone", "cut off"])
def test_a_damaged_pack_is_named_and_the_way_out_too(data: Path, broken: str, how: str) -> None:
    file = place.own_folder() / broken
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ModelError, match=broken) as failure:
        loaded()
    assert str(place.own_folder()) in failure.value.hint


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("generation", "temperature", 0),
        ("generation", "temperature", 0.0),
        ("generation", "temperature", 1e999),
        ("generation", "top_codes", 33),
        ("generation", "frames_heard", -1),
        ("generation", "top_codes", 999_999),
        ("generation", "nucleus", 1.5),
        ("generation", "acoustic_guidance", -3.0),
        ("generation", "passage_frames", 0),
        ("shape", "max_look_ahead", 999_999),
        ("shape", "audio_window", 96),
        ("shape", "codebooks", 1),
        ("shape", "phone_vocabulary", 3),
        ("rates", "1.0", {"counts": [0, 1, 1, 1, 1, 1], "weight": 3.0, "guidance": 1.5}),
        ("rates", "1.0", {"counts": [1, 1, 1, 1, 1, 1], "weight": 1e999, "guidance": 1.5}),
        ("rates", "nan", {"counts": [1, 1, 1, 1, 1, 1], "weight": 3.0, "guidance": 1.5}),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_by_name(
    data: Path, part: str, key: str, value: Any
) -> None:
    names = {"1.0": "counts|weight", "nan": "rate"}
    with pytest.raises(ModelError, match=rf"config\.json .*'({names.get(key, key)})' is"):
        reconfigured(lambda found: found[part].update({key: value}))


def test_no_rate_is_both_too_slow_and_too_fast_for_the_network(data: Path) -> None:
    with pytest.raises(ModelError, match="lowest_rate"):
        reconfigured(
            lambda found: found["generation"].update({"lowest_rate": 4, "highest_rate": 3})
        )


@pytest.mark.parametrize("size", ["layers", "width", "heads", "hidden"])
def test_a_transformer_of_any_size_is_not_built(data: Path, size: str) -> None:
    with pytest.raises(ModelError, match=rf"config\.json .*'{size}' is 999999"):
        reconfigured(lambda found: found["shape"]["depth"].update({size: 999_999}))


@pytest.mark.parametrize("name", ["", "a" * 81, "red\x1b[31m", 7, None])
def test_a_pack_s_name_can_be_shown(data: Path, name: object) -> None:
    with pytest.raises(ModelError, match=r"config\.json .*'name' is no name"):
        reconfigured(lambda found: found.update(name=name))


@pytest.mark.parametrize("text", ['{"a":' * 100_000, '{"name": NaN}'])
def test_what_is_no_plain_object_is_refused(data: Path, text: str) -> None:
    (place.own_folder() / pack.CONFIG_FILE).write_text(text)
    with pytest.raises(ModelError, match=r"config\.json cannot be read"):
        loaded()


def reconfigured(change: Callable[[dict[str, Any]], None]) -> None:
    """Load the pack with another config.json."""
    file = place.own_folder() / pack.CONFIG_FILE
    found = json.loads(file.read_text())
    change(found)
    # JSON has no infinity, but a number may be too large to be anything else.
    file.write_text(json.dumps(found).replace("Infinity", "1e999"))
    loaded()


@pytest.mark.parametrize(
    ("broken", "key"),
    [
        (pack.VOICE_FILE, "sem_head.weight"),
        (pack.CODEC_FILE, "decoder.leave.bias"),
        (pack.SPEAKER_FILE, "linear.bias"),
    ],
)
def test_a_weight_that_is_no_number_is_refused_by_name(data: Path, broken: str, key: str) -> None:
    with pytest.raises(ModelError, match=rf"{broken}.*'{key}' holds NaN"):
        edited(place.own_folder() / broken, key, math.nan)


def test_a_pack_with_a_damaged_voice_is_refused(data: Path) -> None:
    next((place.own_folder() / pack.VOICES_FOLDER).iterdir()).write_bytes(b"noise")
    with pytest.raises(ModelError, match="cannot be used"):
        loaded()


def test_the_person_s_own_pack_goes_before_the_shipped_one(data: Path) -> None:
    assert place.pack_folder() == data / "models" / "starter"


def test_a_named_voice_of_another_pack_is_refused(synthesiser: VoxtreamSynthesiser) -> None:
    with pytest.raises(InvalidInput, match="was made for"):
        synthesiser.open(Voice("Eve", "small-starter 00000000"), seed=0)
