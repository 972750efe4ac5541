"""The published checkpoint's files become a model, or an error that names the key."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engine.errors import ModelError
from engine.tts.voxtream import config as stacks
from engine.tts.voxtream.config import FULL
from engine.tts.voxtream.files.checkpoint import RandomWeights
from engine.tts.voxtream.original import published
from engine.tts.voxtream.original.config import SHAPE
from tests.engine.tts.voxtream.original.small_original import SMALL, TARGET

# As train.yaml of the released code names them, with the shapes of the small model.
CONFIG = {
    "phone_former": "phone_former", "temp_former": "temp_former", "dep_former": "dep_former_csm",
    "phone_vocab_size": 73, "audio_vocab_size": 2049, "embedding_dim": 64, "spk_embedding_dim": 192,
    "num_codebooks": 4, "num_phone_states": 4, "amortization_divisor": 16, "look_ahead": 2,
    "audio_window_size": 250, "phone_window_size": 350,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint of random weights under the published keys."""
    small = {"phone_former": SMALL.phone, "temp_former": SMALL.temporal}
    for name, stack in (small | {"dep_former_csm": SMALL.depth}).items():
        monkeypatch.setitem(published.STACKS, name, stack)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    table = {"AH0": 3, "B": 9, "sil": 69}
    (tmp_path / "phoneme_to_token.json").write_text(json.dumps(table), encoding="utf-8")
    shape = published.read_config(tmp_path / "config.json")
    save_file(dict(RandomWeights(shape, 5).items()), tmp_path / "model.safetensors")
    return tmp_path


def test_the_published_files_are_read_as_they_are(folder: Path) -> None:
    checkpoint = published.load_published(folder, FULL, TARGET)
    config = checkpoint.model.config
    assert (config.phone_vocabulary, config.codes, config.pad) == (73, 2048, 2048)
    assert (config.duration_tokens, config.max_look_ahead) == (4, 2)
    wanted = RandomWeights(config, 5).take("sem_head.weight")
    assert torch.equal(checkpoint.model.semantic_head.weight, wanted)
    assert checkpoint.table.ids("B") == (9,)
    assert checkpoint.table.ids("sil") == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("num_phone_states", 6),
        ("look_ahead", 0),
        ("temp_former", "unheard of"),
        ("audio_window_size", 3),
        ("phone_vocab_size", "many"),
    ],
)
def test_what_is_no_voxtream_is_refused(folder: Path, key: str, value: object) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, key: value}), encoding="utf-8")
    with pytest.raises(ModelError):
        published.load_published(folder, FULL, TARGET)


def test_the_released_shape_is_the_papers() -> None:
    assert (SHAPE.phone, SHAPE.temporal) == (
        stacks.STACKS["phone_former"],
        stacks.STACKS["temp_former"],
    )
    assert (SHAPE.codebooks, SHAPE.codes, SHAPE.duration_tokens) == (12, 2048, 4)
