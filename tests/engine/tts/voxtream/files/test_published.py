"""What a folder of published weights says of itself is followed, or refused by name."""

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import ModelError
from engine.nn.packed.product_graph import Precision
from engine.nn.weights_file import in_int8
from engine.tts.pack_files import read_config
from engine.tts.phones import SPECIAL, SpecialPhones, read_table
from engine.tts.speaker.recording import recipe_version
from engine.tts.voxtream.config import EDITIONS, GENERATION, VOXTREAM2_SHAPE
from engine.tts.voxtream.files.checkpoint import PublishedFile, load_weights, published_shapes
from engine.tts.voxtream.files.pack import VoxtreamPackConfig
from engine.tts.voxtream.files.paths import VOXTREAM2, VOXTREAM2_1
from engine.tts.voxtream.files.published import (
    PublishedConfig,
    espeak_of,
    read_published,
    read_published_shape,
)
from engine.tts.voxtream.rate import RateTarget
from tests.engine.tts.voxtream.random_weights import RandomWeights, own_table
from tests.engine.tts.voxtream.small_model import SMALL, TARGET

NEW, OLD = EDITIONS[VOXTREAM2_1], EDITIONS[VOXTREAM2]
TABLE = {".": 117, ",": 118, "?": 119, "!": 121, "unk": 122, "sil": 120, "b": 0, "s": 1}
CASES = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))
CONFIG = CASES["config"]  # the published config.json
# A fine-tune's: phones of another language, and special ids behind them.
HEBREW = {
    **{f"h{number}": number for number in range(172)},
    ".": 172, ",": 173, "?": 174, "!": 175,
    "sil": 176, "unk": 177, "bos": 178, "eos": 179, "eop": 180,
}  # fmt: skip


def folder(
    at: Path, table: dict[str, Any] = TABLE, config: dict[str, Any] | None = None, **files: Any
) -> Path:
    """A checkpoint's files without its weights; `files` by their names without ".json"."""
    entries = {key: value for key, value in (CONFIG | (config or {})).items() if value is not None}
    written = {"config": entries, "phoneme_to_token": table, **files}
    for name, content in written.items():
        (at / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return at


def read(at: Path, *arguments: Any, **files: Any) -> PublishedConfig:
    return read_published(folder(at, *arguments, **files), NEW)


@pytest.mark.parametrize("edition", [NEW, OLD])
def test_a_checkpoint_without_settings_is_spoken_as_its_edition(tmp_path, edition):
    found = read_published(folder(tmp_path, config={"learning_rate": 0.1}), edition)
    assert (found.edition, found.language) == (edition, "en-us")
    assert found.shape == VOXTREAM2_SHAPE
    assert found.table.special == SPECIAL
    assert found.table.ids("b") == (0,)


def test_settings_that_are_there_go_before_those_of_the_edition(tmp_path):
    generator = {
        "temperature": 0.8, "topk": 7, "top_p": 0.95, "cfg_gamma": 1.7, "cfg_ac_gamma": 2.5,
        "spk_proj_weight": 1.2, "min_look_ahead_phones": 4, "frame_repeat_counter": 30,
        "spk_rate_window_sec": 2.0, "normalize_prompt_loudness": True, "prompt_loudness_lufs": -27,
        "hf_token": None,
    }  # fmt: skip
    wanted = {
        "temperature": 0.8, "top_codes": 7, "nucleus": 0.95, "semantic_guidance": 1.7,
        "acoustic_guidance": 2.5, "speaker_weight": 1.2, "min_look_ahead": 4,
        "repeats_before_push": 30, "rate_window_frames": 25, "pull_scale": 1 / 0.8,
    }  # fmt: skip
    edition = read(tmp_path, generator=generator).edition
    assert edition.generation == replace(NEW.generation, **wanted)
    assert edition.loudness == -27
    generator["normalize_prompt_loudness"] = False
    assert read(tmp_path, generator=generator).edition.loudness is None


def test_a_table_of_rates_is_taken_as_it_is(tmp_path):
    rates = {
        "5.5": {"duration_state": [1, 2, 3, 4, 5, 6], "weight": 9, "cfg_gamma": 2.0},
        "2": {"duration_state": [6, 5, 4, 3, 2, 1], "weight": 4, "cfg_gamma": 1.0},
    }
    found = read(tmp_path, speaking_rate=rates).edition.rates
    assert list(found) == [2.0, 5.5]
    assert found[5.5] == RateTarget((1, 2, 3, 4, 5, 6), 9.0, 2.0)


def test_a_fine_tune_brings_its_own_phones_and_special_ids(tmp_path):
    found = read(tmp_path, HEBREW, {"phone_vocab_size": 181, "language": "he"})
    marks = {".": 172, ",": 173, "?": 174, "!": 175}
    assert found.table.special == SpecialPhones(176, 177, 178, 179, 180, marks)
    assert found.table.ids("h171") == (171,)
    assert found.table.ids("sil") == ()
    assert (found.shape.phone_vocabulary, found.language) == (181, "he")


def test_special_ids_of_the_settings_go_before_those_of_the_table(tmp_path):
    named = {"sil_token": 176, "unk_token": 177, "bos_token": 178, "eos_token": 179}
    table = {phone: number for phone, number in HEBREW.items() if number < 176}
    config = {"phone_vocab_size": 181}
    with pytest.raises(ModelError, match=r"phoneme_to_token\.json does not say which id.*'sil'"):
        read(tmp_path, table, config)
    special = read(tmp_path, table, config, generator=named).table.special
    assert (special.silence, special.eos, special.prompt_end) == (176, 179, 177)


@pytest.mark.parametrize(
    ("name", "entries", "message"),
    [
        *CASES["nonsense"],
        ("config", {"num_codebooks": None}, "lacks the key 'num_codebooks'"),
        ("config", {"audio_window_size": 10**9}, "'audio_window' is 1000000000"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_file(tmp_path, name, entries, message):
    with pytest.raises(ModelError, match=message):
        read(tmp_path, **{name: entries})


def test_a_language_is_phonemised_in_it_where_espeak_has_it(tmp_path):
    assert not espeak_of(tmp_path, "ru").english
    assert espeak_of(tmp_path, "ru").phones("да") != espeak_of(tmp_path, "en-us").phones("да")
    with pytest.raises(ModelError, match="of the language 'tlh'"):
        espeak_of(tmp_path, "tlh")


# ------------------------------------------------------------------------------------ editions


def test_the_guidance_of_the_new_edition_is_two_and_a_half_times_as_strong():
    assert OLD.generation.pull_scale == pytest.approx(1 / math.log(10))
    assert NEW.generation.pull_scale == pytest.approx(1 / 0.9)
    cooler = NEW.tempered(replace(NEW.generation, temperature=0.5))
    assert cooler.generation.pull_scale == pytest.approx(2.0)
    same = OLD.tempered(replace(OLD.generation, temperature=0.5))
    assert same.generation.pull_scale == OLD.generation.pull_scale


def test_voices_of_the_two_editions_are_made_differently():
    assert (OLD.loudness, NEW.loudness) == (None, -23.0)
    assert recipe_version(OLD.loudness) != recipe_version(NEW.loudness) == "3 at -23 LUFS"


# ------------------------------------------------------------------------------------- the weights


def written(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> Path:
    tensors = dict(RandomWeights(SMALL, 0).items())
    change(tensors)
    file = folder / "model.safetensors"
    save_file(tensors, file)
    return file


def load(file: Path) -> Any:
    with PublishedFile(file, SMALL) as source:
        return load_weights(source, SMALL, GENERATION, Precision.FLOAT, TARGET)


def test_the_full_size_model_has_the_published_number_of_parameters():
    shapes = published_shapes(VOXTREAM2_SHAPE).values()
    assert sum(int(torch.tensor(shape).prod()) for shape in shapes) == 462_870_528


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_any_float_on_disk_is_cast_to_the_target_s(tmp_path, dtype):
    file = written(
        tmp_path, lambda tensors: tensors.update({k: v.to(dtype) for k, v in tensors.items()})
    )
    expected = RandomWeights(SMALL, 0).take("sem_head.weight").to(dtype).float()
    assert torch.equal(load(file).semantic_head.weight, expected)


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
        load(written(tmp_path, WRONG[message]))


@pytest.mark.parametrize("size", [None, 0, 7, 4000])
def test_a_missing_or_truncated_file_is_refused_by_name(tmp_path, size):
    file = written(tmp_path, lambda tensors: None)
    content = file.read_bytes()
    file.unlink()
    if size is not None:
        file.write_bytes(content[:size])
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        load(file)


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
        ("config.json", read_published_shape),
        ("config.json", lambda file: read_config(file, VoxtreamPackConfig)),
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
