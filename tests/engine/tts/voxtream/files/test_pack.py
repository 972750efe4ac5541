"""What the settings and the environment load, and what the person is told otherwise; the voice that
comes with the program, from a small pack where the program looks for one.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.nn.packed.product_graph import Precision
from engine.settings import SpeechSettings
from engine.tts import registry, voices
from engine.tts.base import TtsModel
from engine.tts.pack_files import config_json, read_config
from engine.tts.packs import VOICES_FOLDER
from engine.tts.voice_lookup import choose, encode, voice_names
from engine.tts.voxtream.files import pack, paths
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.pack import _precision, load, target
from engine.tts.voxtream.files.pick import FILE, Pick, find_pick, judge, keep
from tests.engine.tts import laws
from tests.engine.tts.utterances import speak
from tests.engine.tts.voxtream.files.small_pack import write_pack


@pytest.fixture(autouse=True)
def nothing_fetched(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pack, "data_folder", lambda: tmp_path)


def loaded(settings: SpeechSettings) -> TtsModel:
    return load(settings, lambda text, fraction: None)


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    for device in ("cuda", "abacus"):
        with pytest.raises(ModelError, match=device):
            loaded(SpeechSettings(engine="voxtream2", device=device))


@pytest.mark.parametrize(
    ("capability", "dtype"),
    [((7, 5), torch.float32), ((8, 0), torch.bfloat16), ((12, 0), torch.bfloat16)],
)
def test_cards_before_ampere_get_no_bfloat16(capability, dtype, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda: capability)
    assert target("auto") == Target(torch.device("cuda"), dtype, threads=1)


def test_the_precision_is_eight_bits_unless_full_was_picked(tmp_path):
    place = target("cpu")
    assert _precision(place) is Precision.INT8
    keep(Pick("full", "cpu", "It is fast."), tmp_path)
    assert _precision(place) is Precision.FLOAT
    keep(Pick("", "cpu", "None is."), tmp_path)
    assert _precision(place) is Precision.INT8
    assert _precision(Target(torch.device("cuda"), torch.bfloat16, 1)) is Precision.FLOAT


def test_what_was_not_fetched_cannot_be_measured():
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        pack.load_to_measure("cpu", "full")


# ------------------------------------------------------------------------------------ the pick


@pytest.mark.parametrize(
    ("rtfs", "name", "reason"),
    [
        (
            {"full": 5.0, "int8": 0.74},
            "int8",
            "int8 keeps RTF at 0.74; full would need 5.00.",
        ),
        ({"int8": 0.3, "full": 0.79}, "full", "full keeps RTF at 0.79."),
        ({"full": 0.8, "int8": 0.7}, "int8", "int8 keeps RTF at 0.70; full would need 0.80."),
    ],
)
def test_the_best_that_keeps_up_is_picked(rtfs, name, reason):
    assert judge("cpu", rtfs) == Pick(name, "cpu", reason)


def test_when_none_keeps_up_the_built_in_voice_stays():
    pick = judge("cpu", {"full": 5.0, "int8": 0.95})
    assert pick.profile == ""
    assert "int8, needs 0.95" in pick.reason
    assert "built-in voice stays" in pick.reason


def test_a_pick_is_found_again_on_its_device_only(tmp_path):
    folder = tmp_path / "not yet there"
    assert find_pick(folder, "cpu") == ""
    keep(Pick("int8", "cpu", "It is."), folder)
    assert (find_pick(folder, "cpu"), find_pick(folder, "cuda")) == ("int8", "")
    assert [file.name for file in folder.iterdir()] == [FILE]


@pytest.mark.parametrize("name", ["int4", ["int8"]])
def test_a_profile_that_is_none_counts_as_no_pick(tmp_path, name):
    text = json.dumps({"profile": name, "device": "cpu", "reason": ""})
    (tmp_path / FILE).write_text(text)
    assert find_pick(tmp_path, "cpu") == ""


# -------------------------------------------------------------------------------- the starter pack


CPU = target("cpu", threads=1)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    return write_pack(tmp_path_factory.mktemp("pack"))


@pytest.fixture
def data(tmp_path, written, monkeypatch) -> Path:
    """A data folder with a pack of the person's own."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    shutil.copytree(written, paths.own_folder())
    return tmp_path


def starter() -> TtsModel:
    return registry.load(SpeechSettings(engine="starter"), lambda text, fraction: None)


@pytest.mark.usefixtures("data")
def test_the_person_s_own_pack_goes_before_the_shipped_one() -> None:
    """The laws of its sessions are held by the same sessions on a smaller model."""
    model = starter()
    laws.a_model_tells_what_it_is_and_that_it_cannot_clone(model)
    assert model.info.name == "small-starter"
    assert [voice.name for voice in model.voices()] == ["Ada", "Bruno"]
    assert (model.info.can_clone, model.info.device) == (False, "cpu")


def test_the_rates_it_follows_are_those_of_its_table(written, tmp_path):
    folder = tmp_path / "pack"
    shutil.copytree(written, folder)
    file = folder / pack.CONFIG_FILE
    config = read_config(file, pack.VoxtreamPackConfig)
    slow = {rate: target for rate, target in config.rates.items() if rate <= 5}
    narrow = pack.VoxtreamPackConfig(config.name, config.shape, config.generation, slow)
    file.write_text(config_json(narrow), encoding="utf-8")
    rates = pack.load_pack(folder, Precision.INT8, CPU).info.rate_range
    assert (rates.lowest, rates.highest) == (1, 5)


def test_warming_up_changes_nothing_that_is_heard(written):
    cold, warm = (pack.load_pack(written, Precision.INT8, CPU) for _ in range(2))
    warm.warm(warm.voices()[0])
    laws.assert_same(*(laws.say(model, [["Good", "morning."]]) for model in (cold, warm)))


@pytest.mark.usefixtures("data")
def test_a_voice_that_was_made_of_a_recording_speaks_though_none_is_made_now(speech) -> None:
    model = starter()
    made = replace(model.encode_voice(speech.pcm, speech.sample_rate), name="Captain")
    voices.save(made, voices.folder(), speech)
    assert voice_names(model) == ("Ada", "Bruno", "Captain")
    voice = choose(model, "captain")
    assert np.array_equal(voice.tensors["codes"], made.tensors["codes"])
    with model.open(voice, seed=1) as session:
        assert speak(session, ["Good", "morning."])
    with pytest.raises(ModelError, match="Kokoro can"):
        encode(model, speech)


def test_weights_or_the_decoder_alone_may_change_and_voices_stay(data):
    """A voice hangs on the codec's codes and the speaker encoder alone."""
    before = starter().info.voice_model
    config = paths.own_folder() / pack.CONFIG_FILE
    config.write_text(config.read_text() + "\n")
    assert starter().info.voice_model == before
    assert edited(paths.own_folder() / pack.CODEC_FILE, "decoder.leave.bias") == before
    assert edited(paths.own_folder() / pack.CODEC_FILE, "encoder.enter.bias") != before


def edited(weights: Path, name: str) -> str:
    """Add to one tensor of a file of weights; what voices are then made for."""
    with safe_open(str(weights), framework="pt") as file:
        about = file.metadata()
    tensors = load_file(weights)
    tensors[name] = tensors[name] + 0.5
    save_file(tensors, weights, about)
    return starter().info.voice_model


def test_without_a_pack_there_is_advice(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(paths, "NAME", "no such pack")
    with pytest.raises(ModelError, match="missing from this installation") as failure:
        starter()
    assert "speech.engine = 'espeak'" in failure.value.hint


@pytest.mark.parametrize(
    "broken", [pack.VOICE_FILE, pack.CODEC_FILE, pack.SPEAKER_FILE, pack.PHONES_FILE]
)
@pytest.mark.parametrize("how", ["gone", "cut off"])
def test_a_damaged_pack_is_named_and_the_way_out_too(data, broken, how):
    file = paths.own_folder() / broken
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ModelError, match=broken) as failure:
        starter()
    assert str(paths.own_folder()) in failure.value.hint


def test_a_pack_with_a_damaged_voice_is_refused(data):
    next((paths.own_folder() / VOICES_FOLDER).iterdir()).write_bytes(b"noise")
    with pytest.raises(ModelError, match="cannot be used"):
        starter()
