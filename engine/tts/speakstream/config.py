"""What SpeakStream's weights fix and what generation fixes.

Invariant: a pack's config.json decides the shape of every tensor.
"""

from dataclasses import dataclass
from typing import Final

from engine.codec.mel import BANDS, COLUMN_RATE, LEVELS
from engine.nn.transformer import TransformerConfig
from engine.tts import phones

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
