"""A voice pack of our own: the published model's code, configured by files in one folder.

    config.json   shapes, generation, rate table          phones.json   ids of phones
    voice.safetensors   codec.safetensors   speaker.safetensors   voices/   CARD.md

Invariant: a pack is read as a whole or refused with a ModelError that names the file; nothing in it
can change what the published checkpoint does.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from engine.codec.small import load_small
from engine.errors import InvalidInput, ModelError
from engine.nn.memory import return_freed_memory
from engine.nn.transformer import TransformerConfig
from engine.text.phonemes import Espeak
from engine.tts import voices
from engine.tts.base import Voice
from engine.tts.voxtream.config import DURATION_TOKENS, Generation, ModelConfig, Profile
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.files.edition import CODEC_FILE as CODEC_FILE  # names of a pack's files
from engine.tts.voxtream.files.edition import CONFIG_FILE as CONFIG_FILE
from engine.tts.voxtream.files.edition import SPEAKER_FILE as SPEAKER_FILE
from engine.tts.voxtream.files.edition import VOICES_FOLDER as VOICES_FOLDER
from engine.tts.voxtream.files.edition import edition_of
from engine.tts.voxtream.files.limits import check, check_number, read_object
from engine.tts.voxtream.rate import RateTarget
from engine.tts.voxtream.session import Machine
from engine.tts.voxtream.speaker.small import load_small_speaker
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from engine.tts.voxtream.table import read_table

PHONES_FILE: Final = "phones.json"
VOICE_FILE: Final = "voice.safetensors"
LONGEST_NAME: Final = 80
AGAIN: Final = "Install the program again."
_T = TypeVar("_T")


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: ModelConfig
    generation: Generation
    rates: Mapping[float, RateTarget]


def load_pack(folder: Path, profile: Profile, target: Target) -> VoxtreamSynthesiser:
    """The pack's model and named voices. ModelError names the file that is missing or wrong."""
    config = read_pack_config(folder / CONFIG_FILE)
    shape = config.shape
    table = read_table(folder / PHONES_FILE, shape.phone_vocabulary)
    with PublishedFile(folder / VOICE_FILE, shape) as weights:
        model = load_weights(weights, shape, config.generation, profile, target)
    codec = load_small(folder / CODEC_FILE, target.device)
    codec.tune(profile.codebooks, profile.codec)
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    edition = edition_of(folder)
    machine = Machine(config.generation, model, codec, table, Espeak(), config.rates)
    named = _named(folder, f"{config.name} {edition}")
    return_freed_memory()
    return VoxtreamSynthesiser(machine, speaker, named, config.name, edition=edition)


def _named(folder: Path, made_for: str) -> tuple[Voice, ...]:
    """The pack's voices by name; ModelError when one is damaged or none is there."""
    try:
        named = [
            voices.load(file) for file in sorted((folder / VOICES_FOLDER).glob("*" + voices.SUFFIX))
        ]
    except InvalidInput as error:
        raise ModelError(error.message, hint=AGAIN) from error
    if not named:
        raise ModelError(f"The voice pack {folder} holds no voice.", hint=AGAIN)
    return tuple(replace(voice, model=made_for) for voice in named)


def pack_json(config: PackConfig) -> str:
    """The text of config.json."""
    content = {
        "name": config.name,
        "shape": asdict(config.shape),
        "generation": asdict(config.generation),
        "rates": {str(rate): asdict(target) for rate, target in config.rates.items()},
    }
    return json.dumps(content, indent=1)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    try:
        entries = read_object(file)
        rates = {float(rate): _rate(value) for rate, value in entries["rates"].items()}
        config = PackConfig(
            _name(entries["name"]),
            _shape(entries["shape"]),
            _plain(Generation, entries["generation"]),
            dict(sorted(rates.items())),
        )
        _check(config)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"The voice pack's {file} cannot be used: {error}.", hint=AGAIN) from error
    return config


def _check(config: PackConfig) -> None:
    """ValueError for what types cannot say."""
    shape = config.shape
    check(shape)
    check(config.generation)
    for rate, target in config.rates.items():
        check_number("rate", rate)
        check(target)
    if not config.rates or any(
        len(target.counts) != shape.duration_tokens for target in config.rates.values()
    ):
        raise ValueError("its rate table does not fit its duration tokens")
    if shape.duration_tokens != len(DURATION_TOKENS):
        raise ValueError("it has other duration tokens")
    if config.generation.top_codes > shape.codes:
        raise ValueError(f"'top_codes' is {config.generation.top_codes} of {shape.codes} codes")
    for stack in (shape.phone, shape.temporal, shape.depth):
        if (
            stack.width != shape.width
            or stack.width % (2 * stack.heads)
            or stack.heads % stack.kv_heads
        ):
            raise ValueError("its transformers do not fit each other")


def _shape(config: dict[str, Any]) -> ModelConfig:
    stacks = {
        name: _plain(TransformerConfig, config[name]) for name in ("phone", "temporal", "depth")
    }
    return _plain(ModelConfig, {**config, **stacks})


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= LONGEST_NAME:
        raise ValueError(f"'name' is no name of at most {LONGEST_NAME} printable characters")
    return value


def _rate(config: dict[str, Any]) -> RateTarget:
    counts = tuple(int(count) for count in config["counts"])
    return RateTarget(counts, float(config["weight"]), float(config["guidance"]))


def _plain(kind: type[_T], config: dict[str, Any]) -> _T:
    """A dataclass of numbers from its JSON object; all keys, no others, each of its type."""
    hints = get_type_hints(kind)
    names = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    if set(config) != set(names):
        raise ValueError(f"keys {sorted(set(config) ^ set(names))}")
    for name, value in config.items():
        fits = type(value) is hints[name] or (hints[name] is float and type(value) is int)
        if not fits:
            raise ValueError(f"'{name}' is {value!r}")
    return kind(**config)
