"""A voice pack of SMLLE, made on this machine.

    config.json   shape, generation      phones.json   ids of phones      voices/   CARD.md
    transducer, spectrum, vocoder, semantic, speaker .safetensors

Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from engine.codec.mel import BANDS, MelSpectrum
from engine.codec.semantic import load_semantic
from engine.codec.vocoder import load_vocoder
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.pack_files import (
    PHONES_FILE,
    STACK,
    VOCODER_FILE,
    Limits,
    named_voices,
    read_config,
    with_weights,
)
from engine.tts.packs import CONFIG_FILE, SPEAKER_FILE, VOICES_FOLDER
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.smlle.config import NAME, Generation, Shape
from engine.tts.smlle.session import Machine
from engine.tts.smlle.spectrum import Spectrum
from engine.tts.smlle.synthesiser import Cloner, SmlleSynthesiser
from engine.tts.smlle.transducer import Transducer
from engine.tts.speaker.small import load_small_speaker

TRANSDUCER_FILE: Final = "transducer.safetensors"
SPECTRUM_FILE: Final = "spectrum.safetensors"
SEMANTIC_FILE: Final = "semantic.safetensors"
_LIMITS: Final[Limits] = {
    **STACK,
    "phones": (1, VOCABULARY), "tokens": (2, 4096),
    "predictor_layers": (1, 16), "joint": (1, 16_384), "bands": (BANDS, BANDS), "columns": (2, 2),
    "prenet": (1, 16_384), "latent": (1, 16_384), "speaker_width": (1, 4096),
    "top_tokens": (1, 4097), "temperature": (0.01, 100), "dropout": (0, 0.99),
    "most_tokens": (1, 10_000), "most_unspoken": (1, 10_000), "passage_steps": (1, 999_999),
    "own_rate": (0.1, 100), "pull": (0, 100), "rate_window_frames": (1, 10_000),
    "lowest_rate": (0.1, 100), "highest_rate": (0.1, 100),
}  # fmt: skip


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: Shape
    generation: Generation
    system: str = NAME


def load(folder: Path, device: str = "cpu") -> SmlleSynthesiser:
    """The pack's model and named voices, always on the CPU: one step's products are too small for
    another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    shape, cpu = config.shape, torch.device("cpu")
    machine = Machine(
        config.generation,
        with_weights(Transducer(shape), folder / TRANSDUCER_FILE),
        with_weights(Spectrum(shape), folder / SPECTRUM_FILE),
        load_vocoder(folder / VOCODER_FILE, BANDS),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(shape.encoder.head_width, cpu),
        RotaryTable(shape.spectrum.head_width, cpu),
    )
    cloner = Cloner(
        load_semantic(folder / SEMANTIC_FILE),
        load_small_speaker(folder / SPEAKER_FILE),
        MelSpectrum(),
        shape.masked,
    )
    pack_voices = named_voices(folder / VOICES_FOLDER, config.name)
    return SmlleSynthesiser(machine, pack_voices, cloner, config.name)


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    return read_config(file, PackConfig, _LIMITS, _check)


def _check(config: PackConfig) -> None:
    if config.system != NAME:
        raise ValueError(f"it is of the system '{config.system[:80]}'")
    if config.generation.lowest_rate >= config.generation.highest_rate:
        raise ValueError("its rates leave no room")
