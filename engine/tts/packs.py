"""Folders of the papers' packs, the error for a missing one, and the hash of the files on which a
pack's voices depend.

A pack that was trained on this machine takes precedence over the one that comes with the program.

Invariant: imports no torch, so that listing voices stays quick.
"""

import hashlib
from enum import Enum
from pathlib import Path
from typing import Final

from engine.assets.catalogue import size_with_needs
from engine.codec.codes_file import codes_hash
from engine.errors import EngineError, ModelError
from engine.resources import resource
from engine.settings import systems
from engine.settings_file import data_folder
from engine.typed_values import read_json

SHIPPED: Final = "systems"  # the folder of the resources where packs of systems come along
CONFIG_FILE: Final = "config.json"
SPEAKER_FILE: Final = "speaker.safetensors"
VOICES_FOLDER: Final = "voices"
LARGEST_CONFIG: Final = 1_000_000  # bytes
CODEC_FILE: Final = "codec.safetensors"
EDITION_LETTERS: Final = 8  # of a hash; two packs on one machine are many


class Weights(Enum):
    """Storage format of a pack's weights; INT8 leaves small tensors in half precision."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    INT8 = "int8"


def folder_of(name: str) -> Path:
    """Return the folder for a system's pack that is trained on this machine; it need not exist."""
    return data_folder() / "packs" / name


def find(name: str) -> Path | None:
    """Find the folder of a system's pack: the person's own, else the shipped one, else None."""
    if (folder_of(name) / CONFIG_FILE).is_file():
        return folder_of(name)
    try:
        return resource(SHIPPED, name, CONFIG_FILE).parent
    except EngineError:
        return None


def system_of(folder: Path) -> str:
    """Return the name (engine/settings/systems.py) of the system whose pack is in the folder; empty
    for VoXtream2. ModelError without a pack.
    """
    try:
        config = read_json(folder / CONFIG_FILE, LARGEST_CONFIG)
    except (OSError, ValueError) as error:
        raise ModelError(
            "The voice pack {folder} cannot be read: {error}.", folder=folder, error=error
        ) from error
    names = (config.get("system"), config.get("name"))
    return next((each.name for each in systems.SYSTEMS if each.name in names), "")


def pack_folder(system: systems.System) -> Path:
    """Return the folder of a system's pack, as find() does. The ModelError for a missing pack names
    the command that trains one.
    """
    if folder := find(system.name):
        return folder
    raise ModelError(
        "There is no pack of {name} on this machine.",
        hint="About {hours} core hours: {command}",
        name=system.title,
        hours=f"{system.core_hours:g}",
        command=system.command,
    )


def not_fetched(title: str, asset: str) -> ModelError:
    """Return the error for a model that was not fetched."""
    return ModelError(
        "{name} is not on this machine.",
        hint="Fetch {name} ({megabytes} MB) with: {command}",
        name=title,
        megabytes=size_with_needs(asset),
        command=f"rubato models get {asset}",
    )


def edition_of(folder: Path) -> str:
    """Hash a pack's codebooks and speaker encoder. Its voices depend on these, but not on the
    decoder of the codes. ModelError, OSError when a file is incomplete.
    """
    digest = hashlib.sha256((folder / SPEAKER_FILE).read_bytes())
    digest.update(codes_hash(folder / CODEC_FILE).encode())
    return digest.hexdigest()[:EDITION_LETTERS]
