"""A voice pack of our own: the published model's code, configured by files in one folder.

    config.json   shapes, generation, rate table          phones.json   ids of phones
    voice.safetensors   codec.safetensors   speaker.safetensors   voices/   CARD.md

Invariant: a pack is loaded entirely or refused with a ModelError that names the file. It cannot
change the published checkpoint.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.codec.small import load_small
from engine.machine import return_freed_memory
from engine.nn.packed.quantise import Precision
from engine.nn.weights_file import check_number
from engine.text.phonemes import Espeak
from engine.tts.pack_files import PHONES_FILE as PHONES_FILE
from engine.tts.pack_files import VOICE_FILE as VOICE_FILE
from engine.tts.pack_files import named_voices, read_config
from engine.tts.packs import CODEC_FILE as CODEC_FILE  # names of a pack's files
from engine.tts.packs import CONFIG_FILE as CONFIG_FILE
from engine.tts.packs import SPEAKER_FILE as SPEAKER_FILE
from engine.tts.packs import VOICES_FOLDER as VOICES_FOLDER
from engine.tts.packs import edition_of
from engine.tts.phones import read_table
from engine.tts.speaker.small import load_small_speaker
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    SPECIAL_CODES,
    ModelConfig,
    VoxtreamGeneration,
    check_shape,
)
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.rate import RATE, RateTarget
from engine.tts.voxtream.session import VoxtreamParts
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from engine.typed_values import WrongValue, build, drop_settled


@dataclass(frozen=True)
class VoxtreamPackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: ModelConfig
    generation: VoxtreamGeneration
    rates: Mapping[float, RateTarget]


def load_pack(folder: Path, precision: Precision, target: Target) -> VoxtreamSynthesiser:
    """Load the pack's model and named voices. ModelError names a missing or wrong file."""
    config = read_pack_config(folder / CONFIG_FILE)
    shape = config.shape
    table = read_table(folder / PHONES_FILE, shape.phone_vocabulary)
    with PublishedFile(folder / VOICE_FILE, shape) as weights:
        model = load_weights(weights, shape, config.generation, precision, target)
    codec = load_small(folder / CODEC_FILE, target.device)
    codec.tune()
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    edition = edition_of(folder)
    parts = VoxtreamParts(config.generation, model, codec, table, Espeak(), config.rates)
    pack_voices = named_voices(folder / VOICES_FOLDER, f"{config.name} {edition}")
    return_freed_memory()
    return VoxtreamSynthesiser(parts, speaker, pack_voices, config.name, edition=edition)


def read_pack_config(file: Path) -> VoxtreamPackConfig:
    """Read a pack's configuration. ModelError when the file is missing, damaged, or describes
    networks that cannot be built.
    """
    return read_config(file, VoxtreamPackConfig, _check, _made)


def _made(entries: dict[str, Any]) -> VoxtreamPackConfig:
    """Build the configuration; older packs lack some constants of generation."""
    shape, rates = entries.get("shape"), entries.get("rates")
    if not isinstance(shape, dict) or not isinstance(rates, dict):
        raise WrongValue("it lacks shapes or rates")
    drop_settled(shape, special_codes=SPECIAL_CODES)
    table = {float(n): build(RateTarget, row, "rates", defaults=False) for n, row in rates.items()}
    return VoxtreamPackConfig(
        entries.get("name", ""),
        build(ModelConfig, shape, "shape", defaults=False),
        build(VoxtreamGeneration, entries.get("generation"), "generation"),
        dict(sorted(table.items())),
    )


def _check(config: VoxtreamPackConfig) -> None:
    """Raise ValueError for values that do not fit each other."""
    shape = config.shape
    for rate in config.rates:
        check_number("rate", rate, RATE)
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
