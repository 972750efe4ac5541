"""SpeakStream's network, and the shape and constants of a pack: a causal transformer over words and
dMel frames (III-A, III-B).

A position is a text id, or COLUMNS columns of the spectrum as levels. All levels of the next
position are predicted independently from one hidden vector. Ours: a position before speech also
carries the unit (phone) that the next position speaks and the unit after it; and with the levels
the network predicts whether the next position is its unit's last. The reason is that independently
drawn bands agree only if their unit is known. So a segment ends with its last unit, without an end
level in every band. Levels enter through a pre-net (ours): without it, speech follows from the
speech before, and little from the text. Invariant: a pack's config.json decides the shape of every
tensor. Forward never writes to the module; the state of a sequence is the cache passed in.
"""

from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

import torch
from torch import Tensor, nn

from engine.codec.mel import BANDS, COLUMN_RATE, LEVELS, Levels
from engine.nn.prenet import Prenet
from engine.nn.transformer import Embedding, KvCache, Linear, Transformer, TransformerConfig
from engine.settings.rules import Range
from engine.tts import phones

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

    def check(self) -> None:
        """Raise ValueError for values that do not fit each other."""
        if self.generation.hop > self.generation.window:
            raise ValueError("it would speak words it does not know")
        if not self.levels.lowest < self.levels.highest:
            raise ValueError("its levels have no scale")


class Prediction(NamedTuple):
    """Predictions at positions [B, T] for the next position: logits of its levels [B, T, COLUMNS,
    BANDS, LEVELS], and of its being the last of its unit [B, T].
    """

    levels: Tensor
    end: Tensor


class SpeakStreamModel(nn.Module):
    """The network of SpeakStream."""

    def __init__(self, shape: SpeakStreamShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.stack.width
        self.text = Embedding(shape.vocabulary, width)
        self.unit = Embedding(shape.vocabulary, width)  # that is said next
        self.later = Embedding(shape.vocabulary, width)  # that is said after it
        self.speaker = Linear(shape.speaker_width, width)
        # Every band has rows of its own for its levels and for LOST; both columns share them.
        self.level = Embedding(BANDS * (LEVELS + 1), shape.level_width)
        self.enter = Prenet(BINS * shape.level_width, shape.prenet, width)
        self.stack = Transformer(shape.stack)
        self.leave = Linear(width, BINS * LEVELS)
        self.end = Linear(width, 1)

    def read(self, ids: Tensor, speaker: Tensor) -> Tensor:
        """Embed text ids [B, T], with the speaker's vector [B, S] at the begin marks."""
        carries = (ids == SPEAKER) | (ids == BEGIN)
        x: Tensor = self.text(ids) + carries[..., None] * self.speaker(speaker)[:, None]
        return x

    def hear(self, levels: Tensor, keep: Tensor) -> Tensor:
        """Embed levels [..., COLUMNS, BANDS] -> [..., D]; `keep` holds the pre-net's masks."""
        rows = torch.arange(BANDS, device=levels.device) * (LEVELS + 1)
        embedded = self.level(levels + rows).flatten(-3)  # [..., BINS * level_width]
        x: Tensor = self.enter(embedded, keep)
        return x

    def saying(self, unit: Tensor, later: Tensor) -> Tensor:
        """Embed the unit that the next position speaks and the one after it, ids [B, T]. Zeros
        where `unit` is below 0, because no speech follows.
        """
        x: Tensor = self.unit(unit.clamp(min=0)) + self.later(later.clamp(min=0))
        return x * (unit >= 0)[..., None]

    def predict(self, hidden: Tensor) -> Prediction:
        """Return the predictions from hidden rows [B, T, D]."""
        levels = self.leave(hidden).unflatten(-1, (COLUMNS, BANDS, LEVELS))
        return Prediction(levels, self.end(hidden)[..., 0])

    def step(self, x: Tensor, cache: KvCache) -> Tensor:
        """Append positions [1, T, D] to the cache. Return the hidden row [1, D] of the last one."""
        return self.stack.append(x, cache)[:, -1]
