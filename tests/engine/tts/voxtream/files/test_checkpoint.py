"""The published file is read as it is, and whatever is not it is refused with a reason."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import ModelError
from engine.nn.stored_weights import in_int8
from engine.tts.phones import own_table, read_table
from engine.tts.voxtream.config import FULL, GENERATION, VOXTREAM2_SHAPE, read_config
from engine.tts.voxtream.files.checkpoint import (
    PublishedFile,
    RandomWeights,
    load_weights,
    published_shapes,
)
from tests.engine.tts.voxtream.small_model import SMALL, TARGET


def written(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> Path:
    tensors = dict(RandomWeights(SMALL, 0).items())
    change(tensors)
    file = folder / "model.safetensors"
    save_file(tensors, file)
    return file


def loaded(file: Path) -> Any:
    with PublishedFile(file, SMALL) as source:
        return load_weights(source, SMALL, GENERATION, FULL, TARGET)


def test_the_full_size_model_has_the_published_number_of_parameters():
    shapes = published_shapes(VOXTREAM2_SHAPE).values()
    assert sum(int(torch.tensor(shape).prod()) for shape in shapes) == 462_870_528


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_any_float_on_disk_is_cast_to_the_target_s(tmp_path, dtype):
    file = written(
        tmp_path, lambda tensors: tensors.update({k: v.to(dtype) for k, v in tensors.items()})
    )
    expected = RandomWeights(SMALL, 0).take("sem_head.weight").to(dtype).float()
    assert torch.equal(loaded(file).semantic_head.weight, expected)


DOWN = "temp_former.layers.1.mlp.w2.weight"
WRONG: dict[str, Callable[[dict[str, Tensor]], object]] = {
    r"'audio_head' holds I8 without its scales": lambda all: all.update(
        audio_head=in_int8(all)["audio_head"]
    ),
    r"lacks 'temp_former\.layers\.1\.mlp\.w2.*\[64, 64\]": lambda all: all.pop(DOWN),
    r"'audio_head' has shape \[3, 64, 9\].*\[3, 64, 2050\]": lambda all: all.update(
        audio_head=torch.zeros(3, 64, 9)
    ),
    r"holds 'lm_head\.weight'": lambda all: all.update({"lm_head.weight": torch.zeros(2)}),
    r"'audio_head' holds I32, expected F32": lambda all: all.update(
        audio_head=all["audio_head"].to(torch.int32)
    ),
    r"'temp_former\.layers\.1\.mlp\.w2\.weight' holds NaN": lambda all: all[DOWN].fill_(math.inf),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_not_the_published_file_is_refused_by_key(tmp_path, message):
    with pytest.raises(ModelError, match=message):
        loaded(written(tmp_path, WRONG[message]))


@pytest.mark.parametrize("size", [None, 0, 7, 4000])
def test_a_missing_or_truncated_file_is_refused_by_name(tmp_path, size):
    file = written(tmp_path, lambda tensors: None)
    content = file.read_bytes()
    file.unlink()
    if size is not None:
        file.write_bytes(content[:size])
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        loaded(file)


NO_OBJECT = {
    "": "cannot be read",
    "[]": "not a JSON object",
    "{": "cannot be read",
    "\x00": "cannot be read",
    '{"a": NaN}': "holds NaN",
    '{"a": -Infinity}': "holds -Infinity",
    '{"a":' * 100_000: "nested too deeply",
    " " * 1_024_001: "larger than 1000 kB",
}


@pytest.mark.parametrize(("text", "message"), NO_OBJECT.items(), ids=range(len(NO_OBJECT)))
def test_what_is_not_a_configuration_is_refused(tmp_path, text, message):
    for name, read in (
        ("config.json", read_config),
        ("phoneme_to_token.json", lambda file: read_table(file, 125)),
    ):
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises(ModelError, match=rf"{name} .*{message}"):
            read(file)


def table_file(folder: Path, **changes: Any) -> Path:
    file = folder / "phoneme_to_token.json"
    plain = {".": 117, ",": 118, "?": 119, "!": 121, "unk": 122, "sil": 120, "b": 0, "ˈiː": 1}  # noqa: RUF001
    file.write_text(json.dumps(plain | changes), encoding="utf-8")
    return file


def test_phones_become_the_published_ids_and_never_the_unknown_one(tmp_path):
    table = read_table(table_file(tmp_path), 125)

    # one of them with another stress of the same vowel
    for phone, ids in (("b", (0,)), ("ˌiː", (1,)), ("bq", (0,)), ("q", ()), ("unk", ())):  # noqa: RUF001
        assert table.ids(phone) == ids
    assert all(number < 117 for phone in "sˈɛtʃ" for number in own_table().ids(phone))  # noqa: RUF001


@pytest.mark.parametrize("change", [{"a": 125}, {"a": -1}, {"a": "3"}, {".": 3}])
def test_a_table_of_another_model_is_refused(tmp_path, change):
    with pytest.raises(ModelError, match=r"phoneme_to_token\.json"):
        read_table(table_file(tmp_path, **change), 125)
