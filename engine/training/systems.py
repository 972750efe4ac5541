"""The table of systems that can be trained, and the reading of their recipes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from engine.errors import InvalidInput
from engine.training import llmvox, smlle, speakstream, voxtream
from engine.training.recipe import System
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
        name = str(table.get("system", voxtream.VOXTREAM2))
        if name not in SYSTEMS:
            raise WrongValue(f"its system '{name}' is not known", f"Known: {', '.join(SYSTEMS)}.")
        return build(SYSTEMS[name].recipe, table)
    except (OSError, ValueError) as error:
        hint = getattr(error, "hint", "")
        raise InvalidInput(f"The recipe {file} cannot be used: {error}.", hint=hint) from error
