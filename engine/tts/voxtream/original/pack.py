"""VoXtream's voice pack, as training on this machine writes it.

    config.json   system, name, shape, generation       phones.json   ids of phones
    voice.safetensors   codec.safetensors   voices/   CARD.md

Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from engine.codec.small import load_small
from engine.nn.memory import return_freed_memory
from engine.nn.packed.quantise import Precision
from engine.text.phonemes import Espeak
from engine.tts.base import TtsModel
from engine.tts.pack_files import PHONES_FILE, VOICE_FILE, Limits, named_voices, read_config
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.phones import read_table
from engine.tts.voxtream.config import FULL, GENERATION, ModelConfig, Profile
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.files.edition import CODEC_FILE
from engine.tts.voxtream.files.limits import LIMITS
from engine.tts.voxtream.files.loading import target
from engine.tts.voxtream.files.pack import check_shape
from engine.tts.voxtream.original.config import NAME, TOKENS, Generation
from engine.tts.voxtream.original.session import Machine
from engine.tts.voxtream.original.synthesiser import VoxtreamSynthesiser

# Acoustic codes are drawn, which the packed depth transformer cannot: that one stays plain.
PROFILE: Final = Profile(
    NAME, Precision.INT8, Precision.INT8, Precision.FLOAT, Precision.FLOAT, Precision.FLOAT
)
_LIMITS: Final[Limits] = {
    **LIMITS, "top": LIMITS["top_codes"], "look_ahead": (1, 1000), "end_frames": (1, 1000),
    "held_frames": (1, 1000),
}  # fmt: skip


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: ModelConfig
    generation: Generation
    system: str = NAME


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
    codec.tune(profile.codec)
    machine = Machine(config.generation, model, codec, table, Espeak())
    named = named_voices(folder / VOICES_FOLDER, config.name)
    return_freed_memory()
    return VoxtreamSynthesiser(machine, named, config.name)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    return read_config(file, PackConfig, _LIMITS, _check)


def _check(config: PackConfig) -> None:
    shape, generation = config.shape, config.generation
    if config.system != NAME:
        raise ValueError(f"it is of the system '{config.system[:80]}'")
    check_shape(shape)
    if shape.duration_tokens != len(TOKENS):
        raise ValueError("it has other duration tokens")
    if generation.top > shape.codes:
        raise ValueError(f"'top' is {generation.top} of {shape.codes} codes")
