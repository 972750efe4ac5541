"""A voice pack of SpeakStream, made on this machine.

    config.json   shape, generation, levels            phones.json   ids of phones
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

from engine.codec.mel import BANDS, Levels
from engine.codec.vocoder import load_vocoder
from engine.errors import ModelError
from engine.nn.finite import not_finite
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.pack_files import (
    AGAIN,
    PHONES_FILE,
    checked_name,
    named_voices,
    read_object,
)
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.speaker.small import load_small_speaker
from engine.tts.speakstream.config import Generation, Shape
from engine.tts.speakstream.model import SpeakStreamModel
from engine.tts.speakstream.session import Machine
from engine.tts.speakstream.synthesiser import SpeakStreamSynthesiser
from engine.typed_values import build

VOICE_FILE: Final = "voice.safetensors"
VOCODER_FILE: Final = "vocoder.safetensors"
SPEAKER_FILE: Final = "speaker.safetensors"
_LIMITS: Final[dict[str, tuple[float, float]]] = {
    "layers": (1, 64), "width": (2, 16_384), "heads": (1, 256), "kv_heads": (1, 256),
    "hidden": (1, 65_536), "vocabulary": (VOCABULARY, VOCABULARY), "level_width": (1, 1024),
    "speaker_width": (1, 4096), "window": (1, 16), "hop": (1, 16), "temperature": (0, 100),
    "pace": (0.5, 20), "longest_word": (1, 1000), "passage": (1, 100_000),
    "longest_passage": (1, 100_000), "lowest": (-100, 100), "highest": (-100, 100),
}  # fmt: skip


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: Shape
    generation: Generation
    levels: Levels


def load_pack(folder: Path) -> SpeakStreamSynthesiser:
    """The pack's model and named voices. ModelError names the file that is missing or wrong."""
    config = read_pack_config(folder / CONFIG_FILE)
    machine = Machine(
        config.generation,
        _model(folder / VOICE_FILE, config.shape),
        config.levels,
        load_vocoder(folder / VOCODER_FILE, BANDS),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(config.shape.stack.head_width, torch.device("cpu")),
    )
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    pack_voices = named_voices(folder / VOICES_FOLDER, config.name)
    return SpeakStreamSynthesiser(machine, speaker, pack_voices, config.name)


def pack_json(config: PackConfig) -> str:
    """The text of config.json."""
    return json.dumps(asdict(config), indent=1)


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
    values = [config.shape, config.shape.stack, config.generation, config.levels]
    for name, number in (item for value in values for item in vars(value).items()):
        low, high = _LIMITS.get(name, (0, 0))
        if name in _LIMITS and not low <= number <= high:  # so NaN is refused too
            raise ValueError(f"'{name}' is {number!r}, expected {low:g} to {high:g}")
    stack = config.shape.stack
    if stack.width % (2 * stack.heads) or stack.heads % stack.kv_heads:
        raise ValueError("its transformer does not fit together")
    if config.generation.hop > config.generation.window:
        raise ValueError("it would speak words it does not know")
    if not config.levels.lowest < config.levels.highest:
        raise ValueError("its levels have no scale")


def _model(file: Path, shape: Shape) -> SpeakStreamModel:
    model = SpeakStreamModel(shape)
    try:
        tensors = {name: tensor.float() for name, tensor in load_file(file).items()}
        model.load_state_dict(tensors)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelError(f"The voice {file} cannot be used: {error}", hint=AGAIN) from error
    if key := not_finite(tensors.items()):
        raise ModelError(f"The voice {file}: '{key}' holds NaN or infinity.", hint=AGAIN)
    return model.eval().requires_grad_(requires_grad=False)
