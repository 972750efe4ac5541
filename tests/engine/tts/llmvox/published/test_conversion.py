"""Pickles become files of our own: once, whole, and only if they are what was fetched."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import ModelError
from engine.models import listing
from engine.settings import Settings, SpeechSettings, change
from engine.tts import registry
from engine.tts.llmvox.published import conversion, paths
from engine.tts.llmvox.published.conversion import converted_network
from engine.tts.llmvox.published.synthesiser import PublishedSynthesiser, load
from engine.tts.registry import of_model, of_settings
from tests.engine.tts.llmvox.published.checkpoints import Table, pickles, pin, write_pickles
from tests.engine.tts.utterances import say

SETTINGS = SpeechSettings(engine=paths.NAME, device="cpu")


def tell(text: str, fraction: float | None) -> None:
    """Nobody listens."""


def loaded() -> PublishedSynthesiser:
    return load(SETTINGS, tell)


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    return tmp_path


def rewrite(asset: str, change: Callable[[Table], object]) -> Path:
    """Another file in the place of an asset's, fetched like it."""
    table = pickles()[asset]
    change(table)
    file = paths.pickle_of(asset)
    torch.save(table, file)
    pin(file)
    return file


def test_what_is_not_fetched_names_the_command():
    with pytest.raises(ModelError, match="not on this machine") as refusal:
        loaded()
    assert refusal.value.hint.endswith("rubato models get llmvox-published")


def test_the_fetched_files_are_converted_once(data, monkeypatch):
    write_pickles(data)
    told: list[str] = []
    load(SETTINGS, lambda text, fraction: told.append(text))
    assert [text for text in told if text.startswith("Converting")] == [
        "Converting llmvox-published, once",
        "Converting wavtokenizer, once",
    ]
    there = {path.name for path in (data / "models" / paths.NETWORK).iterdir()}
    assert there == {"ckpt_english_tiny.pt", paths.CONVERTED, "pins.json"}  # nothing else is left
    entry = listing.entry(paths.NAME, change(Settings(), "speech.engine", paths.NAME))
    assert (entry.state.value, entry.kind, entry.in_use) == ("complete", "voice", True)
    assert "NC" in entry.licence
    made = converted_network(tell)
    made.write_bytes(made.read_bytes()[:50])  # cut off while it was written: made again
    assert loaded().voices()[0].name == "LLMVoX"
    monkeypatch.setattr(conversion, "read_pickle", None)  # it would be called
    assert loaded().voices()[0].name == "LLMVoX"


@pytest.mark.parametrize("asset", paths.PICKLES)
def test_another_version_of_a_file_is_converted_again(data, asset):
    write_pickles(data)
    made = converted_network(tell)
    before = made.stat().st_mtime_ns
    rewrite(asset, lambda table: table.update(more=1))
    assert converted_network(tell).stat().st_mtime_ns != before


@pytest.mark.parametrize("asset", paths.PICKLES)
def test_another_file_than_was_fetched_is_not_read(data, asset, monkeypatch):
    write_pickles(data)
    file = paths.pickle_of(asset)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    monkeypatch.setattr(conversion, "read_pickle", None)
    with pytest.raises(ModelError, match=f"{file.name} has changed since"):
        loaded()


class Trap:
    """What unpickling anything would run."""

    def __reduce__(self) -> tuple[Any, tuple[str, ...]]:
        return (Path.touch, (Path(paths.models_folder() / "trapped"),))  # type: ignore[return-value]


@pytest.mark.parametrize("asset", paths.PICKLES)
def test_a_pickle_that_holds_more_than_weights_is_refused(data, asset):
    write_pickles(data)
    file = rewrite(asset, lambda table: table.update(trap=Trap()))
    with pytest.raises(ModelError, match=f"{file.name} is damaged or holds more than weights"):
        loaded()
    assert not (paths.models_folder() / "trapped").exists()


HEAD = "_orig_mod.lm_head.weight"
WRONG: dict[str, tuple[str, Callable[[Table], object]]] = {
    "lacks 'model'": (paths.NETWORK, lambda it: it.pop("model")),
    "lacks 'model_args'": (paths.NETWORK, lambda it: it.pop("model_args")),
    "3 heads of 128": (paths.NETWORK, lambda it: it["model_args"].update(n_head=3)),
    "None heads": (paths.NETWORK, lambda it: it["model_args"].pop("n_head")),
    "holds 'transformer.ln_f.bias'": (
        paths.NETWORK,
        lambda it: it["model"].update({"transformer.ln_f.bias": torch.zeros(128)}),
    ),
    "leave.weight": (paths.NETWORK, lambda it: it["model"].pop(HEAD)),
    "a codebook of 300 entries": (
        paths.NETWORK, lambda it: it["model"].update({HEAD: torch.zeros(300, 128)}),
    ),
    "lacks 'state_dict'": (paths.CODEC, lambda it: it.pop("state_dict")),
    "holds 'backbone.extra'": (
        paths.CODEC, lambda it: it["state_dict"].update({"backbone.extra": torch.zeros(1)}),
    ),
    "around.2.k.weight": (
        paths.CODEC, lambda it: it["state_dict"].pop("backbone.pos_net.2.k.weight"),
    ),
    "lacks 'shared.weight'": (paths.TEXT, lambda it: it.pop("shared.weight")),
    "vectors of 32 and 64 numbers for 128": (
        paths.TEXT, lambda it: it.update({"shared.weight": torch.zeros(384, 32)}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("named", WRONG)
def test_a_checkpoint_of_another_shape_is_refused_by_name(data, named):
    write_pickles(data)
    asset, change = WRONG[named]
    file = rewrite(asset, change)
    with pytest.raises(ModelError, match=named) as refusal:
        loaded()
    assert "vectors" in named or file.name in refusal.value.message


def test_it_speaks(data):
    write_pickles(data)
    model = registry.load(SETTINGS, tell)
    assert say(model, [["Hello,", "everyone."]]).pcm.any()
    assert of_settings(SETTINGS) == of_model(model)
    assert "107 ms" in model.info.note
