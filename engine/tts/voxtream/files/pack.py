"""A voice pack of our own: the published model's code, configured by files in one folder.

    config.json   shapes, generation, rate table          phones.json   ids of phones
    voice.safetensors   codec.safetensors   speaker.safetensors   voices/   CARD.md

Invariant: a pack is read as a whole or refused with a ModelError that names the file; nothing in it
can change what the published checkpoint does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.codec.small import load_small
from engine.errors import ModelError
from engine.nn.memory import return_freed_memory
from engine.text.phonemes import Espeak
from engine.translatable import Translatable
from engine.tts.pack_files import PHONES_FILE as PHONES_FILE
from engine.tts.pack_files import VOICE_FILE as VOICE_FILE
from engine.tts.pack_files import (
    check_number,
    check_numbers,
    checked_name,
    named_voices,
    read_object,
)
from engine.tts.packs import CONFIG_FILE as CONFIG_FILE
from engine.tts.packs import SPEAKER_FILE as SPEAKER_FILE
from engine.tts.packs import VOICES_FOLDER as VOICES_FOLDER
from engine.tts.phones import read_table
from engine.tts.speaker.small import load_small_speaker
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    SPECIAL_CODES,
    Generation,
    ModelConfig,
    Profile,
)
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.files.edition import CODEC_FILE as CODEC_FILE  # names of a pack's files
from engine.tts.voxtream.files.edition import edition_of
from engine.tts.voxtream.files.limits import LIMITS
from engine.tts.voxtream.rate import RateTarget
from engine.tts.voxtream.session import Machine
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from engine.typed_values import build

AGAIN: Final = Translatable("Install the program again.")


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
    codec.tune(profile.codec)
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    edition = edition_of(folder)
    machine = Machine(config.generation, model, codec, table, Espeak(), config.rates)
    pack_voices = named_voices(folder / VOICES_FOLDER, f"{config.name} {edition}")
    return_freed_memory()
    return VoxtreamSynthesiser(machine, speaker, pack_voices, config.name, edition=edition)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    try:
        entries = read_object(file)
        rates = {
            float(rate): build(RateTarget, value, defaults=False)
            for rate, value in entries["rates"].items()
        }
        config = PackConfig(
            checked_name(entries["name"]),
            # Packs from before VoXtream do not say how many special codes they have.
            build(
                ModelConfig, {"special_codes": SPECIAL_CODES, **entries["shape"]}, defaults=False
            ),
            build(Generation, entries["generation"]),
            dict(sorted(rates.items())),
        )
        _check(config)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            "The voice pack's {file} cannot be used: {error}.", hint=AGAIN, file=file, error=error
        ) from error
    return config


def _check(config: PackConfig) -> None:
    """ValueError for what types cannot say."""
    shape = config.shape
    check_numbers(shape, LIMITS)
    check_numbers(config.generation, LIMITS)
    for rate, target in config.rates.items():
        check_number("rate", rate, LIMITS)
        check_numbers(target, LIMITS)
    if not config.rates or any(
        len(target.counts) != shape.duration_tokens for target in config.rates.values()
    ):
        raise ValueError("its rate table does not fit its duration tokens")
    if shape.duration_tokens != len(DURATION_TOKENS):
        raise ValueError("it has other duration tokens")
    if config.generation.lowest_rate > config.generation.highest_rate:
        raise ValueError("its 'lowest_rate' is above its 'highest_rate'")
    if config.generation.top_codes > shape.codes:
        raise ValueError(f"'top_codes' is {config.generation.top_codes} of {shape.codes} codes")
    check_shape(shape)


def check_shape(shape: ModelConfig) -> None:
    """ValueError when the transformers do not fit each other."""
    if any(stack.width != shape.width for stack in (shape.phone, shape.temporal, shape.depth)):
        raise ValueError("its transformers do not fit each other")
