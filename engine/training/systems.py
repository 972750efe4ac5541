"""The table of systems that can be trained, and the reading of their recipes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from engine.errors import InvalidInput
from engine.training import llmvox, smlle, speakstream, voxtream
from engine.training.recipe import Recipe, System
from engine.typed_values import WrongValue, build, read_text, toml_table

LARGEST_BYTES: Final = 256 * 1024  # a recipe is a few kilobytes
SYSTEMS: Final[Mapping[str, System]] = {
    **voxtream.SYSTEMS,
    "speakstream": speakstream.SYSTEM,
    "llmvox": llmvox.SYSTEM,
    "smlle": smlle.SYSTEM,
}


def read_recipe(file: Path) -> Any:  # Any: the recipe of its system, which the stages know
    """Read a recipe from its file. InvalidInput names the key that is unknown, missing or wrong."""
    try:
        table = toml_table(read_text(file, LARGEST_BYTES))
    except (OSError, ValueError) as error:
        message = "The recipe {file} cannot be read: {error}."
        raise InvalidInput(message, file=file, error=error) from error
    name = str(table.get("system", voxtream.VOXTREAM2))
    if name not in SYSTEMS:
        raise InvalidInput(
            "The recipe's system '{system}' is not known.",
            hint="There are: {names}.",
            system=name,
            names=", ".join(SYSTEMS),
        )
    try:
        recipe = build(SYSTEMS[name].recipe, table)
    except WrongValue as error:
        message, hint = "The recipe {file} cannot be used: {error}.", error.hint
        raise InvalidInput(message, hint=hint, file=file, error=error) from error
    _check(recipe)
    return recipe


def _check(recipe: Recipe) -> None:
    """Check the rules that the recipe's types cannot express. InvalidInput if one is broken."""
    corpus = recipe.corpus
    voice = recipe.voice if isinstance(recipe, voxtream.Voxtream2Recipe) else None
    rules = {
        "corpus.hours must be above 0": corpus.hours > 0,
        "corpus.lowest_rate must be above 0": corpus.lowest_rate > 0,
        "corpus.lowest_rate must be below highest_rate": corpus.lowest_rate < corpus.highest_rate,
        "corpus.held_out_speakers must be fewer than speakers": corpus.held_out_speakers
        < corpus.speakers,
        "voice.width must be a multiple of every stack's heads": voice is None
        or all(
            voice.width % (2 * stack.heads) == 0 and stack.heads % stack.kv_heads == 0
            for stack in (voice.phone, voice.temporal, voice.depth)
        ),
    }
    for sentence, holds in rules.items():
        if not holds:
            raise InvalidInput("The recipe is inconsistent: {sentence}.", sentence=sentence)
