"""VoXtream's voice pack, as training on this machine writes it.

    config.json   system, name, shape, generation       phones.json   ids of phones
    voice.safetensors   codec.safetensors   voices/   CARD.md

Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch

from engine.codec.small import load_small
from engine.errors import ModelError
from engine.nn.memory import return_freed_memory
from engine.nn.packed.quantise import Precision
from engine.text.phonemes import Espeak
from engine.tts.base import TtsModel
from engine.tts.pack_files import PHONES_FILE, checked_name, named_voices, read_object
from engine.tts.phones import read_table
from engine.tts.voxtream.config import FULL, GENERATION, ModelConfig, Profile
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.files.edition import CODEC_FILE, CONFIG_FILE, VOICES_FOLDER
from engine.tts.voxtream.files.limits import check, check_number
from engine.tts.voxtream.files.loading import target
from engine.tts.voxtream.files.pack import VOICE_FILE, check_shape
from engine.tts.voxtream.original.config import NAME, TOKENS, Generation
from engine.tts.voxtream.original.session import Machine
from engine.tts.voxtream.original.synthesiser import VoxtreamSynthesiser
from engine.typed_values import build

AGAIN: Final = "Make the pack again."
# Acoustic codes are drawn, which the packed depth transformer cannot: that one stays plain.
PROFILE: Final = Profile(
    NAME, Precision.INT8, Precision.INT8, Precision.FLOAT, Precision.FLOAT, Precision.FLOAT
)


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: ModelConfig
    generation: Generation


def load(folder: Path, device: str) -> TtsModel:
    """The pack's model and named voices on a device ('auto' = the processor: a frame is small).
    ModelError names the file that is missing or wrong.
    """
    place = target("cpu" if device == "auto" else device, threads=1)
    torch.set_num_threads(place.threads)  # a frame's products are too small for a second one
    return load_pack(folder, PROFILE if place.device.type == "cpu" else FULL, place)


def load_pack(folder: Path, profile: Profile, place: Target) -> VoxtreamSynthesiser:
    """As load(), with a profile whose depth transformer is plain."""
    config = read_pack_config(folder / CONFIG_FILE)
    shape = config.shape
    table = read_table(folder / PHONES_FILE, shape.phone_vocabulary)
    with PublishedFile(folder / VOICE_FILE, shape) as weights:
        model = load_weights(weights, shape, GENERATION, profile, place)
    codec = load_small(folder / CODEC_FILE, place.device)
    codec.tune(profile.codebooks, profile.codec)
    machine = Machine(config.generation, model, codec, table, Espeak())
    named = named_voices(folder / VOICES_FOLDER, config.name)
    return_freed_memory()
    return VoxtreamSynthesiser(machine, named, config.name)


def pack_json(config: PackConfig) -> str:
    """The text of config.json."""
    content = {
        "system": NAME,
        "name": config.name,
        "shape": asdict(config.shape),
        "generation": asdict(config.generation),
    }
    return json.dumps(content, indent=1)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    try:
        entries = read_object(file)
        config = PackConfig(
            checked_name(entries["name"]),
            build(ModelConfig, entries["shape"], defaults=False),
            build(Generation, entries["generation"], defaults=False),
        )
        _check(config)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"The voice pack's {file} cannot be used: {error}.", hint=AGAIN) from error
    return config


def _check(config: PackConfig) -> None:
    """ValueError for what types cannot say."""
    shape, generation = config.shape, config.generation
    check(shape)
    check_shape(shape)
    check_number("temperature", generation.temperature)
    check_number("top_codes", generation.top)
    check_number("passage_frames", generation.passage_frames)
    for name in ("look_ahead", "end_frames", "held_frames"):
        if not 0 < getattr(generation, name) <= 1000:
            raise ValueError(f"'{name}' is {getattr(generation, name)}, expected 1 to 1000")
    if shape.duration_tokens != len(TOKENS):
        raise ValueError("it has other duration tokens")
    if generation.top > shape.codes:
        raise ValueError(f"'top' is {generation.top} of {shape.codes} codes")
