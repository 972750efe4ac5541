"""A voice pack of SMLLE, made on this machine.

    config.json   shape, generation      phones.json   ids of phones      voices/   CARD.md
    transducer, spectrum, vocoder, semantic, speaker .safetensors

Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from engine.codec.mel import BANDS, MelSpectrum
from engine.codec.semantic import load_semantic
from engine.codec.vocoder import load_vocoder
from engine.errors import ModelError
from engine.nn.finite import not_finite
from engine.nn.transformer import RotaryTable, TransformerConfig
from engine.text.phonemes import Espeak
from engine.tts.pack_files import AGAIN, PHONES_FILE, checked_name, named_voices, read_object
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.smlle.config import NAME, Generation, Shape
from engine.tts.smlle.session import Machine
from engine.tts.smlle.spectrum import Spectrum
from engine.tts.smlle.synthesiser import Cloner, SmlleSynthesiser
from engine.tts.smlle.transducer import Transducer
from engine.tts.speaker.small import load_small_speaker
from engine.typed_values import build

TRANSDUCER_FILE: Final = "transducer.safetensors"
SPECTRUM_FILE: Final = "spectrum.safetensors"
VOCODER_FILE: Final = "vocoder.safetensors"
SEMANTIC_FILE: Final = "semantic.safetensors"
SPEAKER_FILE: Final = "speaker.safetensors"
_LIMITS: Final[dict[str, tuple[float, float]]] = {
    "layers": (1, 64), "width": (2, 16_384), "heads": (1, 256), "kv_heads": (1, 256),
    "hidden": (1, 65_536), "phones": (1, VOCABULARY), "tokens": (2, 4096),
    "predictor_layers": (1, 16), "joint": (1, 16_384), "bands": (BANDS, BANDS), "columns": (2, 2),
    "prenet": (1, 16_384), "latent": (1, 16_384), "speaker_width": (1, 4096),
    "top_tokens": (1, 4097), "temperature": (0.01, 100), "dropout": (0, 0.99),
    "most_tokens": (1, 10_000), "most_unspoken": (1, 10_000), "passage_steps": (1, 999_999),
    "own_rate": (0.1, 100), "pull": (0, 100), "rate_window_frames": (1, 10_000),
    "lowest_rate": (0.1, 100), "highest_rate": (0.1, 100),
}  # fmt: skip
_Network = TypeVar("_Network", bound=nn.Module)


@dataclass(frozen=True)
class PackConfig:
    """What a pack says of itself."""

    name: str
    shape: Shape
    generation: Generation
    system: str = NAME


def load(folder: Path, device: str = "cpu") -> SmlleSynthesiser:
    """The pack's model and named voices, on the CPU whatever the device: a step's products are too
    small for another. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    shape, cpu = config.shape, torch.device("cpu")
    machine = Machine(
        config.generation,
        _filled(Transducer(shape), folder / TRANSDUCER_FILE),
        _filled(Spectrum(shape), folder / SPECTRUM_FILE),
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
    named = named_voices(folder / VOICES_FOLDER, config.name)
    return SmlleSynthesiser(machine, named, cloner, config.name)


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


def _filled(network: _Network, file: Path) -> _Network:
    """The network with a file's weights, only for use."""
    if not file.is_file():
        raise ModelError(f"The voice file {file} is not there.", hint=AGAIN)
    try:
        tensors = {name: tensor.float() for name, tensor in load_file(file).items()}
        network.load_state_dict(tensors)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelError(f"The voice file {file} cannot be used: {error}", hint=AGAIN) from error
    if key := not_finite(tensors.items()):
        raise ModelError(f"The voice file {file}: '{key}' holds NaN or infinity.", hint=AGAIN)
    return network.eval().requires_grad_(requires_grad=False)


def _check(config: PackConfig) -> None:
    """ValueError for what types cannot say."""
    if config.system != NAME:
        raise ValueError(f"it is of the system '{config.system[:80]}'")
    shape, generation = config.shape, config.generation
    for value in (shape, shape.encoder, shape.spectrum, generation):
        for name, number in vars(value).items():
            low, high = _LIMITS.get(name, (0, 0))
            if name in _LIMITS and not low <= number <= high:  # so NaN is refused too
                raise ValueError(f"'{name}' is {number!r}, expected {low:g} to {high:g}")
    if not all(map(_fits, (shape.encoder, shape.spectrum))):
        raise ValueError("a transformer of it does not fit together")
    if generation.lowest_rate >= generation.highest_rate:
        raise ValueError("its rates leave no room")


def _fits(stack: TransformerConfig) -> bool:
    return stack.width % (2 * stack.heads) == 0 and stack.heads % stack.kv_heads == 0
