"""A recipe says everything, and nothing it does not know."""

from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from engine.errors import InvalidInput
from engine.settings.systems import SYSTEMS
from engine.training.packing import CARD_FILE, write_card
from engine.training.recipe import Recipe
from engine.training.run import SYSTEMS as TRAINED
from engine.training.run import Run, read_recipe, write_json
from engine.training.utterances import read, write
from engine.training.voxtream.losses import built_in_config
from tests.engine.training.conftest import CASES, TINY

RECIPES = sorted(TINY.parent.glob("*.toml"))


def changed(folder: Path, old: str, new: str) -> Path:
    text = TINY.read_text(encoding="utf-8")
    assert old in text
    file = folder / "recipe.toml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return file


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_every_recipe_that_ships_can_be_read(file):
    assert read_recipe(file).name == file.stem


def test_the_built_in_voice_generates_as_its_recipe_says():
    recipe = read_recipe(TINY.with_name("starter.toml"))
    assert recipe.generation == built_in_config().generation


def test_every_stage_is_a_function():
    for system in TRAINED.values():
        for stage in system.stages.values():
            module, name = stage.function.split(":")
            assert callable(getattr(import_module(f"engine.training.{module}"), name))


def test_a_recipe_knows_the_sections_of_its_system_alone(tmp_path):
    with pytest.raises(InvalidInput, match="unknown key 'codec'"):
        read_recipe(changed(tmp_path, "seed = 7", 'seed = 7\nsystem = "voxtream"'))
    with pytest.raises(InvalidInput, match="'festival' is not known"):
        read_recipe(changed(tmp_path, "seed = 7", 'seed = 7\nsystem = "festival"'))


def test_the_systems_that_are_compared_learn_from_the_same_speech():
    recipes = [read_recipe(TINY.with_name(f"{system.name}.toml")) for system in SYSTEMS]
    assert len({(recipe.seed, recipe.corpus) for recipe in recipes}) == 1


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    CASES["recipes"],
)
def test_a_wrong_recipe_is_refused(tmp_path, old, new, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        read_recipe(changed(tmp_path, old, new))


# --------------------------------------------------------------------------------------- cards


SPEAKSTREAM = read_recipe(TINY.with_name("speakstream.toml"))


def card_of(recipe: Recipe, folder: Path) -> str:
    run = Run(recipe, folder)
    write_json(run.stage("corpus") / "manifest.json", {"hours": 3.4})
    write_card(run, folder)
    return (folder / CARD_FILE).read_text(encoding="utf-8")


def test_a_card_has_what_its_recipe_says_was_measured(tmp_path):
    unknown = replace(SPEAKSTREAM, export=replace(SPEAKSTREAM.export, reached=()))
    assert "Not measured yet" in card_of(unknown, tmp_path)
    known = replace(SPEAKSTREAM, export=replace(SPEAKSTREAM.export, reached=("It ends.",)))
    card = card_of(known, tmp_path)
    assert "## What it reaches\n- It ends.\n" in card
    assert "Not measured yet" not in card
    assert "on 3.4 hours" in card


# ------------------------------------------------------------------- a corpus encoded for a system


@dataclass(frozen=True)
class Said:
    speaker: int
    rate: float
    tokens: npt.NDArray[np.int16]


def said(speaker: int) -> Said:
    tokens = np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::2]  # not in one piece
    return Said(speaker, 0.5 * speaker, tokens + np.int16(speaker))


def test_utterances_are_read_as_they_were_written_and_in_order(tmp_path):
    file, written = tmp_path / "0000.safetensors", [said(7), said(3), *map(said, range(12))]
    write(file, [])
    assert read(file, Said) == []
    write(file, written)
    for made, found in zip(written, read(file, Said), strict=True):
        assert (found.speaker, found.rate) == (made.speaker, made.rate)
        assert found.tokens.dtype == np.int16
        assert np.array_equal(found.tokens, made.tokens)
