"""What every voice pack is made of: what it says of itself, tables in JSON, weights, named voices.

Invariant: no file is read beyond its largest size, and whatever is wrong with one is a ModelError
that names it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from torch import nn

from engine.errors import InvalidInput, ModelError
from engine.nn.transformer import TransformerConfig
from engine.nn.weights_file import load_network
from engine.translatable import Translatable
from engine.tts import voices
from engine.tts.base import Voice
from engine.typed_values import build, read_json

PHONES_FILE: Final = "phones.json"
VOICE_FILE: Final = "voice.safetensors"
VOCODER_FILE: Final = "vocoder.safetensors"
LARGEST_BYTES: Final = 1000 * 1024  # of a JSON file; a table of phones has some thousand
LONGEST_NAME: Final = 80
AGAIN: Final = Translatable("Install the program again, or make the pack again.")
Limits = Mapping[str, tuple[float, float]]  # lowest and highest of a number, by its name
STACK: Final[Limits] = {
    "layers": (1, 64), "width": (2, 16_384), "heads": (1, 256), "kv_heads": (1, 256),
    "hidden": (1, 65_536),
}  # fmt: skip
_Network = TypeVar("_Network", bound=nn.Module)
_Config = TypeVar("_Config", bound="_Named")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file. ModelError when it is missing, too large or not one."""
    try:
        return read_json(file, LARGEST_BYTES)
    except (OSError, ValueError) as error:
        raise ModelError(
            "{file} cannot be read: {error}.", hint=AGAIN, file=file, error=error
        ) from error


def read_config(
    file: Path,
    kind: type[_Config],
    limits: Limits,
    check: Callable[[_Config], None],
    make: Callable[[dict[str, Any]], _Config] | None = None,
) -> _Config:
    """What a pack says of itself; `check` raises ValueError for what neither types nor limits can
    say. `make` builds it of the table; None = every key must be there. ModelError when the file is
    missing, damaged, or describes what cannot be built.
    """
    entries = read_object(file)
    try:
        config = make(entries) if make else build(kind, entries, defaults=False)
        _check_name(config.name)
        check_numbers(config, limits)
        check(config)
    except ValueError as error:
        raise ModelError(
            "The voice pack's {file} cannot be used: {error}.", hint=AGAIN, file=file, error=error
        ) from error
    return config


def config_json(config: Any) -> str:
    """The text of config.json."""
    return json.dumps(asdict(config), indent=1, default=lambda member: member.value)


def check_numbers(config: Any, limits: Limits) -> None:
    """ValueError naming the first value of a dataclass, or of one inside it, that is too small, too
    large or no number, or saying that a transformer does not fit together.
    """
    for name, value in vars(config).items():
        inner = value.values() if isinstance(value, Mapping) else (value,)
        for each in filter(is_dataclass, inner):
            check_numbers(each, limits)
        for number in value if isinstance(value, tuple) else (value,):
            if name in limits:
                check_number(name, number, limits)
    if isinstance(config, TransformerConfig) and (
        config.width % (2 * config.heads) or config.heads % config.kv_heads
    ):
        raise ValueError("a transformer of it does not fit together")


def check_number(name: str, value: float, limits: Limits) -> None:
    """ValueError when a value of that name makes no sense."""
    low, high = limits[name]
    if not low <= value <= high:  # so NaN is refused too
        raise ValueError(f"'{name}' is {value!r}, expected {low:g} to {high:g}")


def with_weights(network: _Network, file: Path) -> _Network:
    """The network with a file's weights, for inference only. ModelError when they do not fit."""
    return load_network(file, lambda _: network, Translatable("The voice file"), AGAIN)


def check_system(system: str, name: str) -> None:
    """ValueError for a pack of another system than `name`."""
    if system != name:
        raise ValueError(f"it is of the system '{system[:80]}'")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(f"'name' is no name of at most {LONGEST_NAME} printable characters")


def named_voices(folder: Path, made_for: str) -> tuple[Voice, ...]:
    """The voices in a folder by name, as voices of the model `made_for`. ModelError when one is
    damaged or there is none.
    """
    try:
        pack_voices = [voices.load(file) for file in sorted(folder.glob("*" + voices.SUFFIX))]
    except InvalidInput as error:
        raise ModelError(error.message, hint=AGAIN) from error
    if not pack_voices:
        raise ModelError(
            "The voice pack {folder} holds no voice.", hint=AGAIN, folder=folder.parent
        )
    return tuple(replace(voice, model=made_for) for voice in pack_voices)
