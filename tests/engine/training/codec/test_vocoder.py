"""The vocoder that several systems share: taken from a pack, or refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from engine.codec.mel import BANDS
from engine.codec.vocoder import VocoderConfig, fresh_decoder
from engine.errors import InvalidInput, ModelError
from engine.nn.weights_file import shape_metadata
from engine.training.codec.vocoder import train_vocoder
from engine.training.recipe import Decoder, Recipe
from engine.training.run import Run, read_json

SMALL = VocoderConfig(BANDS, width=16, blocks=1)


@pytest.fixture
def run(tiny: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Of a recipe that takes the vocoder of the pack `other`, which is in the data folder."""
    monkeypatch.setattr("engine.tts.packs.data_folder", lambda: tmp_path / "data")
    monkeypatch.setattr("engine.tts.packs.SHIPPED", "no such folder")
    folder = tmp_path / "data" / "packs" / "other"
    folder.mkdir(parents=True)
    (folder / "config.json").touch()
    weights = fresh_decoder(SMALL).half().state_dict()
    save_file(weights, folder / "vocoder.safetensors", shape_metadata(SMALL))
    return Run(replace(tiny, decoder=Decoder(pack="other")), tmp_path / "run")


def test_a_vocoder_is_taken_from_a_pack(run: Run, tmp_path: Path) -> None:
    train_vocoder(run, SMALL, lambda pcm, draw: pcm, {})
    source = tmp_path / "data" / "packs" / "other" / "vocoder.safetensors"
    taken = load_file(run.stage("decoder") / "vocoder.safetensors")
    assert all((value == taken[key]).all() for key, value in load_file(source).items())
    assert read_json(run.stage("decoder") / "manifest.json")["taken_from"] == "other"


def test_a_vocoder_for_other_columns_is_refused(run: Run) -> None:
    with pytest.raises(ModelError, match=f"for columns of {BANDS} values, not 8"):
        train_vocoder(run, replace(SMALL, entry=8), lambda pcm, draw: pcm, {})
    assert not (run.stage("decoder") / "vocoder.safetensors").exists()


def test_a_pack_that_is_not_there_is_named_with_the_command_that_makes_it(run: Run) -> None:
    other = replace(run, recipe=replace(run.recipe, decoder=Decoder(pack="speakstream")))
    with pytest.raises(InvalidInput, match="speakstream") as error:
        train_vocoder(other, SMALL, lambda pcm, draw: pcm, {})
    assert "recipes/speakstream.toml --install" in str(error.value.hint)
