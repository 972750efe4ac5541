"""A voice pack of SpeakStream, made on this machine.

    config.json   shape, generation, levels            phones.json   ids of phones
    voice.safetensors   vocoder.safetensors   speaker.safetensors   voices/   CARD.md

Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from engine.codec.mel import BANDS, Levels
from engine.codec.vocoder import load_vocoder
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
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
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.speaker.small import load_small_speaker
from engine.tts.speakstream.config import Generation, Shape
from engine.tts.speakstream.model import SpeakStreamModel
from engine.tts.speakstream.session import Machine
from engine.tts.speakstream.synthesiser import SpeakStreamSynthesiser

_LIMITS: Final[Limits] = {
    **STACK,
    "vocabulary": (VOCABULARY, VOCABULARY), "level_width": (1, 1024),
    "speaker_width": (1, 4096), "window": (1, 16), "hop": (1, 16), "temperature": (0, 100),
    "prenet": (1, 16_384), "dropout": (0, 0.99),
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


def load(folder: Path, device: str = "cpu") -> SpeakStreamSynthesiser:
    """The pack's model and named voices, always on the CPU: one position's products are too small
    for another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    machine = Machine(
        config.generation,
        with_weights(SpeakStreamModel(config.shape), folder / VOICE_FILE),
        config.levels,
        load_vocoder(folder / VOCODER_FILE, BANDS),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(config.shape.stack.head_width, torch.device("cpu")),
    )
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    pack_voices = named_voices(folder / VOICES_FOLDER, config.name)
    return SpeakStreamSynthesiser(machine, speaker, pack_voices, config.name)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    return read_config(file, PackConfig, _LIMITS, _check)


def _check(config: PackConfig) -> None:
    if config.generation.hop > config.generation.window:
        raise ValueError("it would speak words it does not know")
    if not config.levels.lowest < config.levels.highest:
        raise ValueError("its levels have no scale")
