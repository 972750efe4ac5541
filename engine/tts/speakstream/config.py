"""Shapes of SpeakStream's weights and constants of its generation.

Invariant: a pack's config.json decides the shape of every tensor.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from engine.codec.mel import BANDS, COLUMN_RATE, LEVELS, Levels
from engine.nn.transformer import TransformerConfig
from engine.settings.rules import Range
from engine.tts import phones
from engine.tts.pack_files import read_config

NAME: Final = "speakstream"
COLUMNS: Final = 2  # of the spectrum in one position, 40 ms
POSITION_RATE: Final = COLUMN_RATE // COLUMNS  # Hz
BINS: Final = COLUMNS * BANDS  # levels drawn at one position, all at once
LOST: Final = LEVELS  # in place of an unknown column's level
# Ids of marks between phones. WORD stands between words; SPEAKER is position 0.
WORD, SPEAKER, BEGIN, END = phones.SILENCE, phones.UNKNOWN, phones.BOS, phones.EOS


@dataclass(frozen=True)
class SpeakStreamShape:
    """Shape of one set of weights. `level_width`: of the vector of a single band's level."""

    stack: TransformerConfig
    vocabulary: Annotated[int, Range(phones.VOCABULARY, phones.VOCABULARY)] = phones.VOCABULARY
    level_width: Annotated[int, Range(1, 1024)] = 16
    prenet: Annotated[int, Range(1, 16_384)] = 128
    speaker_width: Annotated[int, Range(1, 4096)] = 192


@dataclass(frozen=True)
class SpeakStreamGeneration:
    """Constants of generation. The first `hop` (the paper's n) of `window` known words (its m) are
    spoken. `pace` is the mean rate of the training speech, in SPS.
    """

    window: Annotated[int, Range(1, 16)] = 3
    hop: Annotated[int, Range(1, 16)] = 1  # the paper's best (TI)
    # of the levels; 0 = the likeliest (not given in the paper)
    temperature: Annotated[float, Range(0, 100)] = 0.0
    dropout: Annotated[float, Range(0, 0.99)] = 0.5  # of the pre-net (ours)
    pace: Annotated[float, Range(0.5, 20)] = 4.2
    # a unit ends when the probability that it lasts longer is below; 0.5 = at its median (ours)
    longer: Annotated[float, Range(0.01, 0.99)] = 0.5
    # positions, 0.6 s; then the unit must end
    longest_unit: Annotated[int, Range(1, 1000)] = 15
    # positions after which the cache restarts with the next sentence, 4 s
    passage: Annotated[int, Range(1, 100_000)] = 100
    # or with the next word: the longest training utterance, 8 s
    longest_passage: Annotated[int, Range(1, 100_000)] = 200


@dataclass(frozen=True)
class SpeakStreamPackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: SpeakStreamShape
    generation: SpeakStreamGeneration
    levels: Levels


def read_pack_config(file: Path) -> SpeakStreamPackConfig:
    """Read the configuration of a pack. ModelError if the file is missing, damaged, or describes
    networks that cannot be built.
    """
    return read_config(file, SpeakStreamPackConfig, _check)


def _check(config: SpeakStreamPackConfig) -> None:
    if config.generation.hop > config.generation.window:
        raise ValueError("it would speak words it does not know")
    if not config.levels.lowest < config.levels.highest:
        raise ValueError("its levels have no scale")
