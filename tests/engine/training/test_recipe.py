"""A recipe says everything, and nothing it does not know."""

from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.systems import SYSTEMS
from engine.training.recipe import Recipe, read_recipe
from engine.training.run import Run
from tests.engine.training.conftest import TINY

RECIPES = sorted(TINY.parent.glob("*.toml"))


def changed(folder: Path, old: str, new: str) -> Path:
    text = TINY.read_text(encoding="utf-8")
    assert old in text
    file = folder / "recipe.toml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return file


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_every_recipe_that_ships_can_be_read(file: Path) -> None:
    assert read_recipe(file).name == file.stem


def test_the_systems_that_are_compared_learn_from_the_same_speech() -> None:
    recipes = [read_recipe(TINY.with_name(f"{system.name}.toml")) for system in SYSTEMS]
    assert len({(recipe.seed, recipe.corpus) for recipe in recipes}) == 1


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("seed = 7", "sead = 7", "unknown key 'sead'"),
        ("seed = 7", "", "lacks the key 'seed'"),
        ("seed = 7", 'seed = "x"', "expected int"),
        ("hours = 0.012", "hours = 0.0", "hours must be above 0"),
        (
            "[codec.schedule]\n",
            "[codec.schedule]\nspeed = 1\n",
            "unknown key 'codec.schedule.speed'",
        ),
        ("prompt_seconds = [1.0, 2.0]", "prompt_seconds = [1.0]", "needs 2 values"),
        ("held_out_speakers = 2", "held_out_speakers = 20", "held_out_speakers"),
        ("width = 64", "width = 65", "multiple"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_named(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_recipe(changed(tmp_path, old, new))


def test_a_recipe_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_recipe(tmp_path / "none.toml")


def test_a_stage_is_done_only_under_the_recipe_it_was_done_with(
    tiny: Recipe, tmp_path: Path
) -> None:
    run = Run(tiny, tmp_path)
    run.finish("corpus", {})
    other = read_recipe(changed(tmp_path, "seed = 7", "seed = 8"))
    assert run.is_done("corpus")
    assert not Run(other, tmp_path).is_done("corpus")


def test_a_change_of_the_voice_leaves_the_codec_done(tiny: Recipe, tmp_path: Path) -> None:
    run = Run(tiny, tmp_path)
    run.finish("codec", {})
    run.finish("voice", {})
    other = read_recipe(changed(tmp_path, "width = 64", "width = 128"))
    assert Run(other, tmp_path).is_done("codec")
    assert not Run(other, tmp_path).is_done("voice")


def test_a_stage_asks_for_the_one_before_it(tiny: Recipe, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'corpus' has not been finished"):
        Run(tiny, tmp_path).require("corpus")
