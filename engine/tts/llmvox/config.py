"""What LLMVoX's weights fix and what generation fixes.

Invariant: a pack's config.json decides the shape of every tensor.
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from engine.nn.transformer import TransformerConfig
from engine.tts import phones
from engine.tts.pack_files import STACK, Limits, read_config

NAME: Final = "llmvox"
TOKEN_RATE: Final = 50  # Hz; the paper's is 75
TOKEN_SAMPLES: Final = 480
ENTRY: Final = 128  # width of a token's vector
VOCABULARY: Final = 260  # of units, phones or bytes


class Units(Enum):
    """What the network reads, one a step."""

    PHONES = "phones"
    BYTES = "bytes"  # the paper's


# Ids of units that are neither phones nor bytes.
WORD, TEXT_END, NOTHING = 256, 257, 258


@dataclass(frozen=True)
class Shape:
    """Shape of one set of weights. `tokens` counts the codebook's entries; the end of the speech is
    one more label behind them (ours: the paper uses an entry of the codebook).
    """

    stack: TransformerConfig
    units: Units = Units.PHONES
    tokens: int = 1024
    prenet: int = 128
    speaker_width: int = 192
    vocabulary: int = VOCABULARY


@dataclass(frozen=True)
class Generation:
    """Constants of generation. A chunk of `first_chunk` tokens is decoded first, every later one of
    a sentence is `growth` times as long (Alg. 1: 2; its published server: 3) up to `largest_chunk`.
    """

    first_chunk: int = 4
    growth: int = 1  # the decoder here is causal, so chunks need not grow
    largest_chunk: int = 1280
    longest_unit: int = 20  # tokens for every unit of a sentence; then its end is forced
    most_repeats: int = 40  # of one token in a row; then another is taken
    temperature: float = 0.0  # of the tokens; 0 = the likeliest, as in the published server
    dropout: float = 0.5  # of the pre-net (ours)


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


def read_pack_config(file: Path) -> PackConfig:
    """ModelError when the file is missing, damaged, or describes what cannot be built."""
    return read_config(file, PackConfig, _LIMITS, lambda _: None)


assert phones.VOCABULARY <= WORD, "units of phones and marks share ids"
