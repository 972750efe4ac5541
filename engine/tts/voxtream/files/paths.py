"""Paths of VoXtream2's weights: of the published editions, and of the pack that comes with the
program.

A pack in the data folder, which a person trained, takes precedence over the shipped one. Invariant:
imports no torch, so that listing voices stays quick.
"""

from pathlib import Path
from typing import Final

from engine.errors import EngineError, ModelError
from engine.resources import resource
from engine.settings_file import data_folder

NAME: Final = "starter"
VOXTREAM2, VOXTREAM2_1 = "voxtream2", "voxtream2-1"
PUBLISHED: Final = {VOXTREAM2_1: "VoXtream2.1", VOXTREAM2: "VoXtream2"}  # the best one first


def own_folder() -> Path:
    """Return the folder of a person's own pack, which need not exist."""
    return data_folder() / "models" / NAME


def pack_folder() -> Path:
    """Return the folder of the pack in use. ModelError when there is none."""
    if own_folder().is_dir():
        return own_folder()
    try:
        return resource(NAME)
    except EngineError as error:
        raise ModelError(
            "The starter voice is missing from this installation.",
            hint="Install the program again, or choose eSpeak NG in the settings "
            "(speech.engine = 'espeak').",
        ) from error
