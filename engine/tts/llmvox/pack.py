"""A voice pack of LLMVoX, made on this machine.

    config.json   shape, generation            phones.json   ids of phones
    voice.safetensors   vocoder.safetensors   speaker.safetensors   voices/   CARD.md

Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from engine.codec.vocoder import load_vocoder
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.llmvox.config import ENTRY, VOCABULARY, Generation, Shape
from engine.tts.llmvox.model import LlmVoxModel
from engine.tts.llmvox.session import Machine
from engine.tts.llmvox.synthesiser import LlmVoxSynthesiser
from engine.tts.pack_files import (
    PHONES_FILE,
    STACK,
    VOCODER_FILE,
    VOICE_FILE,
    Limits,
    named_voices,
    read_config,
    with_weights,
)
from engine.tts.packs import CONFIG_FILE, SPEAKER_FILE, VOICES_FOLDER
from engine.tts.phones import VOCABULARY as PHONES
from engine.tts.phones import read_table
from engine.tts.speaker.small import load_small_speaker

_LIMITS: Final[Limits] = {
    **STACK,
    "vocabulary": (VOCABULARY, VOCABULARY), "tokens": (2, 65_536),
    "speaker_width": (1, 4096), "first_chunk": (1, 1280), "growth": (1, 16),
    "largest_chunk": (1, 10_000), "longest_unit": (1, 1000), "most_repeats": (1, 100_000),
    "prenet": (1, 16_384), "dropout": (0, 0.99), "temperature": (0, 100),
}  # fmt: skip


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: Shape
    generation: Generation


def load(folder: Path, device: str = "cpu") -> LlmVoxSynthesiser:
    """The pack's model and named voices, always on the CPU: one position's products are too small
    for another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    machine = Machine(
        config.generation,
        with_weights(LlmVoxModel(config.shape), folder / VOICE_FILE),
        load_vocoder(folder / VOCODER_FILE, ENTRY),
        read_table(folder / PHONES_FILE, PHONES),
        Espeak(),
        RotaryTable(config.shape.stack.head_width, torch.device("cpu")),
    )
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    pack_voices = named_voices(folder / VOICES_FOLDER, config.name)
    return LlmVoxSynthesiser(machine, speaker, pack_voices, config.name)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    return read_config(file, PackConfig, _LIMITS, lambda _: None)
