"""The published checkpoint of VoXtream: its shapes, its phones, its weights.

Its text goes through g2pE to 69 phones of the ARPAbet (Kyubyong/g2p), without punctuation.
Invariant: the shape is what config.json says, or a ModelError names the key.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import ModelError
from engine.translatable import Translatable
from engine.tts.pack_files import check_number, read_object
from engine.tts.phones import PhoneTable
from engine.tts.voxtream.config import GENERATION, STACKS, ModelConfig, Profile, PublishedKeys
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.files.limits import LIMITS
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.original.config import PUBLISHED, SPECIAL_CODES, TOKENS
from engine.typed_values import WrongValue, build

AGAIN: Final = Translatable("Fetch the model again.")
NEWER: Final = Translatable("This checkpoint needs a newer version of the program.")
_CHECKED: Final = (
    "audio_vocabulary", "codebooks", "speaker_width", "max_look_ahead",
)  # fmt: skip


@dataclass(frozen=True)
class _Config(PublishedKeys):
    look_ahead: int


@dataclass(frozen=True)
class Checkpoint:
    """Weights, and the ids of the phones they were trained with."""

    model: VoxtreamModel
    table: PhoneTable


def load_published(folder: Path, profile: Profile, target: Target) -> Checkpoint:
    """config.json, phoneme_to_token.json and model.safetensors in a folder. ModelError naming what
    is missing or wrong.
    """
    config = read_config(folder / "config.json")
    table = read_table(folder / "phoneme_to_token.json")
    with PublishedFile(folder / "model.safetensors", config) as weights:
        return Checkpoint(load_weights(weights, config, GENERATION, profile, target), table)


def read_config(file: Path) -> ModelConfig:
    """Shapes from a released config.json; keys of training alone are ignored."""
    try:
        config = build(_Config, read_object(file), ignore_unknown=True)
    except WrongValue as error:
        raise ModelError("{file}: {error}.", hint=AGAIN, file=file, error=error) from error
    names = (config.phone_former, config.temp_former, config.dep_former)
    unknown = [name for name in names if name not in STACKS]
    if unknown:
        raise ModelError(
            "{file} asks for a transformer '{name}'.", hint=NEWER, file=file, name=unknown[0]
        )
    temporal = STACKS[config.temp_former]
    if config.embedding_dim != temporal.width or config.num_phone_states != len(TOKENS):
        raise ModelError(
            "{file} describes a model of width {width} with {count} duration tokens, "
            "expected {expected} and {other}.",
            hint=NEWER,
            file=file,
            width=config.embedding_dim,
            count=config.num_phone_states,
            expected=temporal.width,
            other=len(TOKENS),
        )
    shape = config.shape(config.look_ahead, SPECIAL_CODES)
    try:
        _check(shape)
    except ValueError as error:
        raise ModelError("{file}: {error}.", hint=AGAIN, file=file, error=error) from error
    return shape


def read_table(file: Path) -> PhoneTable:
    """The ids of the ARPAbet's phones; the special ones are no phones."""
    table = read_object(file)
    for phone, number in table.items():
        if type(number) is not int or not 0 <= number <= PUBLISHED.eos:
            raise ModelError(
                "{file}: '{key}' is {value}, expected a number up to {most}.",
                hint=AGAIN,
                file=file,
                key=phone,
                value=repr(number),
                most=PUBLISHED.eos,
            )
    return PhoneTable({phone: n for phone, n in table.items() if n < PUBLISHED.silence})


def _check(shape: ModelConfig) -> None:
    """ValueError naming what makes no sense; its phones are fewer than VoXtream2's."""
    for name in _CHECKED:
        check_number(name, getattr(shape, name), LIMITS)
    if not PUBLISHED.eos < shape.phone_vocabulary <= 1000:
        raise ValueError(f"'phone_vocab_size' is {shape.phone_vocabulary}, expected 73 to 1000")
    if not shape.max_look_ahead * shape.phone.layers < shape.phone_window <= 10_000:
        raise ValueError(f"'phone_window_size' is {shape.phone_window}")
    if not 150 <= shape.audio_window <= 10_000:  # a prompt of 10 s, and room to speak
        raise ValueError(f"'audio_window_size' is {shape.audio_window}, expected 150 to 10000")
