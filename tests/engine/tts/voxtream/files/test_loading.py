"""What the settings and the environment load, and what the person is told otherwise."""

import json

import pytest
import torch

from engine.errors import ModelError
from engine.nn.packed.quantise import Precision
from engine.settings import SpeechSettings
from engine.tts.base import TtsModel
from engine.tts.voxtream.files import loading
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.loading import _precision, load, target
from engine.tts.voxtream.files.pick import FILE, Pick, find_pick, judge, keep


@pytest.fixture(autouse=True)
def nothing_fetched(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(loading, "data_folder", lambda: tmp_path)


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
        loading.load_to_measure("cpu", "full")


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
