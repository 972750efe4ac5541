"""What SpeakStream's weights fix and what generation fixes.

Invariant: a pack's config.json decides the shape of every tensor.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.codec.mel import BANDS, COLUMN_RATE, LEVELS, Levels
from engine.nn.transformer import TransformerConfig
from engine.tts import phones
from engine.tts.pack_files import STACK, Limits, read_config

NAME: Final = "speakstream"
COLUMNS: Final = 2  # of the spectrum in one position, 40 ms
POSITION_RATE: Final = COLUMN_RATE // COLUMNS  # Hz
BINS: Final = COLUMNS * BANDS  # levels drawn at one position, all at once
LOST: Final = LEVELS  # in place of the level of a column that is not known
# Ids of what is no phone. A word mark stands between words; SPEAKER is position 0.
WORD, SPEAKER, BEGIN, END = phones.SILENCE, phones.UNKNOWN, phones.BOS, phones.EOS


@dataclass(frozen=True)
class Shape:
    """Shape of one set of weights; `level_width` of a single band's level."""

    stack: TransformerConfig
    vocabulary: int = phones.VOCABULARY
    level_width: int = 16
    prenet: int = 128
    speaker_width: int = 192


@dataclass(frozen=True)
class Generation:
    """Constants of generation. `window` is the paper's m, the words known of which `hop`, its n,
    are spoken. `pace` is the mean rate of what was learnt, in SPS.
    """

    window: int = 3
    hop: int = 1  # the paper's best (TI)
    temperature: float = 0.0  # of the levels; 0 = the likeliest (not given in the paper)
    dropout: float = 0.5  # of the pre-net (ours)
    pace: float = 4.2
    longest_word: int = 38  # positions, 1.5 s: an end that does not come is set
    passage: int = 100  # positions after which a sentence's end starts again, 4 s
    longest_passage: int = 200  # after which any word does: the longest lesson, 8 s


_LIMITS: Final[Limits] = {
    **STACK,
    "vocabulary": (phones.VOCABULARY, phones.VOCABULARY), "level_width": (1, 1024),
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


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    return read_config(file, PackConfig, _LIMITS, _check)


def _check(config: PackConfig) -> None:
    if config.generation.hop > config.generation.window:
        raise ValueError("it would speak words it does not know")
    if not config.levels.lowest < config.levels.highest:
        raise ValueError("its levels have no scale")
