"""SpeakStream's network: a causal transformer over words and dMel frames (III-A, III-B).

A position is a text id, or COLUMNS columns of the spectrum as levels. All levels of the next
position are predicted independently from one hidden vector. Ours: a position before speech also
carries the unit (phone) that the next position speaks and the unit after it; and with the levels
the network predicts whether the next position is its unit's last. The reason is that independently
drawn bands agree only if their unit is known. So a segment ends with its last unit, without an end
level in every band. Levels enter through a pre-net (ours): without it, speech follows from the
speech before, and little from the text. Invariant: forward never writes to the module; the state of
a sequence is the cache passed in.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from engine.codec.mel import BANDS, LEVELS
from engine.nn.cache import KvCache
from engine.nn.prenet import Prenet
from engine.nn.transformer import Embedding, Linear, RotaryTable, Transformer
from engine.tts.speakstream.config import BEGIN, BINS, COLUMNS, SPEAKER, SpeakStreamShape


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

    def step(self, x: Tensor, rotary: RotaryTable, cache: KvCache) -> Tensor:
        """Append positions [1, T, D] to the cache. Return the hidden row [1, D] of the last one."""
        start, length = cache.length, x.shape[1]
        mask = None
        if length > 1:
            mask = torch.ones(length, start + length, dtype=torch.bool).tril(start)
        hidden = self.stack(x, rotary.slice(start, start + length), cache, mask)
        cache.advance(length)
        last: Tensor = hidden[:, -1]
        return last
