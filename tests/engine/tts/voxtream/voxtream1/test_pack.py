"""A pack may take what makes the acoustic codes from the built-in voice, as the paper from CSM."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.codec.small import SmallCodecConfig, build
from engine.errors import ModelError
from engine.nn.packed.product_graph import Precision
from engine.nn.weights_file import shape_metadata
from engine.resources import resource
from engine.tts import voices
from engine.tts.pack_files import PHONES_FILE, VOICE_FILE, config_json, read_config
from engine.tts.packs import CODEC_FILE, CONFIG_FILE, VOICES_FOLDER
from engine.tts.voxtream.config import ModelConfig
from engine.tts.voxtream.files.pack import VoxtreamPackConfig
from engine.tts.voxtream.voxtream1.session import (
    FROZEN,
    TOKENS,
    Voxtream1Generation,
    Voxtream1PackConfig,
)
from engine.tts.voxtream.voxtream1.synthesiser import frozen_hash, load_pack
from tests.engine.tts.voxtream.random_weights import RandomWeights
from tests.engine.tts.voxtream.voxtream1.small_voxtream1 import TARGET, random_voice

BUILT_IN = resource("starter")


@pytest.fixture(scope="module")
def shape() -> ModelConfig:
    """The built-in voice's, with fewer layers where the pack has its own."""
    built_in = read_config(BUILT_IN / CONFIG_FILE, VoxtreamPackConfig).shape
    one = {name: replace(getattr(built_in, name), layers=1) for name in ("phone", "temporal")}
    return replace(built_in, **one, duration_tokens=len(TOKENS))


@pytest.fixture
def pack(tmp_path, shape) -> Path:
    codec = SmallCodecConfig(8, 512, 32, 1, 1)
    save_file(build(codec).state_dict(), tmp_path / CODEC_FILE, shape_metadata(codec))
    own = {k: v for k, v in RandomWeights(shape, 1).items() if not k.startswith(FROZEN)}
    (tmp_path / VOICES_FOLDER).mkdir()
    save_file(own, tmp_path / VOICE_FILE)
    (tmp_path / PHONES_FILE).write_bytes((BUILT_IN / PHONES_FILE).read_bytes())
    voices.save(random_voice(), tmp_path / VOICES_FOLDER)
    write_config(tmp_path, shape, frozen_hash(BUILT_IN / VOICE_FILE))
    return tmp_path


def write_config(folder: Path, shape: ModelConfig, frozen: str) -> None:
    config = Voxtream1PackConfig("voxtream", shape, Voxtream1Generation(), frozen=frozen)
    (folder / CONFIG_FILE).write_text(config_json(config), encoding="utf-8")


def test_what_is_frozen_is_the_built_in_voice_s(pack):
    model = load_pack(pack, Precision.FLOAT, TARGET).parts.model
    there = load_file(BUILT_IN / VOICE_FILE)
    assert torch.equal(model.audio_embeddings.weight, there["audio_embeddings.weight"].float())
    head = model.acoustic_heads[2].get_parameter("weight")
    assert torch.equal(head, there["audio_head"][2].t().float())


def test_another_built_in_voice_is_refused(pack, shape):
    write_config(pack, shape, "0" * 64)
    with pytest.raises(ModelError, match="another built-in voice"):
        load_pack(pack, Precision.FLOAT, TARGET)


def test_a_pack_that_lacks_what_it_should_have_is_refused(pack):
    tensors = load_file(pack / VOICE_FILE)
    tensors.pop("sem_head.weight")
    save_file(tensors, pack / VOICE_FILE)
    with pytest.raises(ModelError, match="lacks"):
        load_pack(pack, Precision.FLOAT, TARGET)
