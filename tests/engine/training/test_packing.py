"""A pack's card says what was measured, or how to measure it, and where its networks began."""

from dataclasses import replace
from pathlib import Path

from engine.training.packing import CARD_FILE, write_card
from engine.training.recipe import Recipe, read_recipe
from engine.training.run import Run, write_json
from tests.engine.training.conftest import TINY

SPEAKSTREAM = read_recipe(TINY.with_name("speakstream.toml"))


def card_of(recipe: Recipe, folder: Path) -> str:
    """The card of a run whose corpus is there."""
    run = Run(recipe, folder)
    write_json(run.stage("corpus") / "manifest.json", {"hours": 3.4})
    write_card(run, folder)
    return (folder / CARD_FILE).read_text(encoding="utf-8")


def test_a_card_has_what_its_recipe_says_was_measured(tmp_path: Path) -> None:
    unknown = replace(SPEAKSTREAM, export=replace(SPEAKSTREAM.export, reached=()))
    assert "Not measured yet" in card_of(unknown, tmp_path)
    known = replace(SPEAKSTREAM, export=replace(SPEAKSTREAM.export, reached=("It ends.",)))
    card = card_of(known, tmp_path)
    assert "## What it reaches\n- It ends.\n" in card
    assert "Not measured yet" not in card
    assert "on 3.4 hours" in card
