"""The parts of every voice pack: its configuration, tables in JSON, weights, named voices.

Invariant: no JSON file is read beyond LARGEST_BYTES, and every fault of a file is a ModelError that
names it.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from torch import nn

from engine.errors import InvalidInput, ModelError
from engine.nn.weights_file import check_numbers, load_network
from engine.translatable import Translatable
from engine.tts import voices
from engine.tts.base import Voice
from engine.tts.packs import VOICES_FOLDER
from engine.typed_values import build, read_json

PHONES_FILE: Final = "phones.json"
VOICE_FILE: Final = "voice.safetensors"
SPECTRUM_FILE: Final = "spectrum.safetensors"
VOCODER_FILE: Final = "vocoder.safetensors"
LARGEST_BYTES: Final = 1000 * 1024  # of a JSON file; a table of phones has some thousand
LONGEST_NAME: Final = 80
REMAKE: Final = Translatable("Install the program again, or make the pack again.")
_Network = TypeVar("_Network", bound=nn.Module)
_Config = TypeVar("_Config", bound="_PackConfig")


class _PackConfig(Protocol):
    @property
    def name(self) -> str: ...

    def check(self) -> None:
        """Raise ValueError for faults that types and ranges cannot express."""


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON object. ModelError if the file is missing, too large or none."""
    try:
        return read_json(file, LARGEST_BYTES)
    except (OSError, ValueError) as error:
        raise ModelError(
            "{file} cannot be read: {error}.", hint=REMAKE, file=file, error=error
        ) from error


def read_config(file: Path, kind: type[_Config]) -> _Config:
    """Read a pack's configuration; every key is required. ModelError when the file is missing,
    damaged, or describes networks that cannot be built.
    """
    entries = read_object(file)
    try:
        config = build(kind, entries, defaults=False)
        _check_name(config.name)
        check_numbers(config)
        config.check()
    except ValueError as error:
        raise ModelError(
            "The voice pack's {file} cannot be used: {error}.", hint=REMAKE, file=file, error=error
        ) from error
    return config


def config_json(config: Any) -> str:
    """Return the text of config.json."""
    return json.dumps(asdict(config), indent=1, default=lambda member: member.value)


def with_weights(network: _Network, file: Path) -> _Network:
    """Load a file's weights into a network, for inference only. ModelError when they do not fit."""
    return load_network(file, lambda _: network, Translatable("The voice file"), REMAKE)


def check_system(system: str, name: str) -> None:
    """Raise ValueError if a pack's `system` is not the one called `name`."""
    if system != name:
        raise ValueError(f"it is of the system '{system[:80]}'")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(f"'name' is no name of at most {LONGEST_NAME} printable characters")


def named_voices(folder: Path, made_for: str) -> tuple[Voice, ...]:
    """Load the voices of a pack by name, as voices of the model `made_for`. ModelError when a file
    is damaged or the pack has no voice.
    """
    files = sorted((folder / VOICES_FOLDER).glob("*" + voices.SUFFIX))
    try:
        pack_voices = [voices.load(file) for file in files]
    except InvalidInput as error:
        raise ModelError(error.message, hint=REMAKE) from error
    if not pack_voices:
        raise ModelError("The voice pack {folder} holds no voice.", hint=REMAKE, folder=folder)
    return tuple(replace(voice, model=made_for) for voice in pack_voices)
