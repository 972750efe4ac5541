"""A voice pack of LLMVoX, made on this machine.

    config.json   shape, generation            phones.json   ids of phones
    voice.safetensors   vocoder.safetensors   speaker.safetensors   voices/   CARD.md

Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from engine.codec.vocoder import load_vocoder
from engine.errors import ModelError
from engine.nn.finite import not_finite
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.llmvox.config import ENTRY, VOCABULARY, Generation, Shape
from engine.tts.llmvox.model import LlmVoxModel
from engine.tts.llmvox.session import Machine
from engine.tts.llmvox.synthesiser import LlmVoxSynthesiser
from engine.tts.pack_files import (
    AGAIN,
    PHONES_FILE,
    checked_name,
    named_voices,
    read_object,
)
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.phones import VOCABULARY as PHONES
from engine.tts.phones import read_table
from engine.tts.speaker.small import load_small_speaker
from engine.typed_values import build

VOICE_FILE: Final = "voice.safetensors"
VOCODER_FILE: Final = "vocoder.safetensors"
SPEAKER_FILE: Final = "speaker.safetensors"
_LIMITS: Final[dict[str, tuple[float, float]]] = {
    "layers": (1, 64), "width": (2, 16_384), "heads": (1, 256), "kv_heads": (1, 256),
    "hidden": (1, 65_536), "vocabulary": (VOCABULARY, VOCABULARY), "tokens": (2, 65_536),
    "speaker_width": (1, 4096), "first_chunk": (1, 1280), "growth": (1, 16),
    "largest_chunk": (1, 10_000), "longest_unit": (1, 1000), "most_repeats": (1, 100_000),
}  # fmt: skip


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: Shape
    generation: Generation


def load_pack(folder: Path) -> LlmVoxSynthesiser:
    """The pack's model and named voices. ModelError names the file that is missing or wrong."""
    config = read_pack_config(folder / CONFIG_FILE)
    machine = Machine(
        config.generation,
        _model(folder / VOICE_FILE, config.shape),
        load_vocoder(folder / VOCODER_FILE, ENTRY),
        read_table(folder / PHONES_FILE, PHONES),
        Espeak(),
        RotaryTable(config.shape.stack.head_width, torch.device("cpu")),
    )
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    named = named_voices(folder / VOICES_FOLDER, config.name)
    return LlmVoxSynthesiser(machine, speaker, named, config.name)


def pack_json(config: PackConfig) -> str:
    """The text of config.json."""
    entries = asdict(config)
    entries["shape"]["units"] = config.shape.units.value
    return json.dumps(entries, indent=1)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    entries = read_object(file)
    try:
        config = build(PackConfig, entries, defaults=False)
        checked_name(config.name)
        _check(config)
    except ValueError as error:
        raise ModelError(f"The voice pack's {file} cannot be used: {error}.", hint=AGAIN) from error
    return config


def _check(config: PackConfig) -> None:
    """ValueError for what types cannot say."""
    stack = config.shape.stack
    for value in (config.shape, stack, config.generation):
        for name, number in vars(value).items():
            low, high = _LIMITS.get(name, (0, 0))
            if name in _LIMITS and not low <= number <= high:
                raise ValueError(f"'{name}' is {number!r}, expected {low:g} to {high:g}")
    if stack.width % (2 * stack.heads) or stack.heads % stack.kv_heads:
        raise ValueError("its transformer does not fit together")


def _model(file: Path, shape: Shape) -> LlmVoxModel:
    model = LlmVoxModel(shape)
    try:
        tensors = {name: tensor.float() for name, tensor in load_file(file).items()}
        model.load_state_dict(tensors)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelError(f"The voice {file} cannot be used: {error}", hint=AGAIN) from error
    if key := not_finite(tensors.items()):
        raise ModelError(f"The voice {file}: '{key}' holds NaN or infinity.", hint=AGAIN)
    return model.eval().requires_grad_(requires_grad=False)
