"""LLMVoX's network: a causal transformer that reads a text unit and the token before, and predicts
the next token (3.3).

Ours: rotary positions instead of a learnt table, so that a sentence may have any length; a pre-net
for the token before; the speaker's vector, added at every step; an output for the onsets of words.
Invariant: forward never writes to the module; the state of a sentence is the cache passed in.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from engine.nn.cache import KvCache
from engine.nn.prenet import Prenet
from engine.nn.transformer import Embedding, Linear, RotaryTable, Transformer
from engine.tts.llmvox.config import ENTRY, LlmVoxShape


class Prediction(NamedTuple):
    """Predictions at positions [..., D]: logits of the tokens and of the end [..., tokens + 1], and
    the logit of a word's onset [...].
    """

    tokens: Tensor
    onset: Tensor


class LlmVoxModel(nn.Module):
    """The network of LLMVoX."""

    def __init__(self, shape: LlmVoxShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.stack.width
        half = width // 2
        self.unit = Embedding(shape.vocabulary, half)
        self.codebook = Embedding(shape.tokens + 1, ENTRY)
        self.token = Prenet(ENTRY, shape.prenet, width - half)
        self.speaker = Linear(shape.spectrum.speaker_width, width)
        self.stack = Transformer(shape.stack)
        self.leave = Linear(width, shape.tokens + 1)
        self.onset = Linear(width, 1)

    @property
    def no_token(self) -> int:
        """The id in place of the token before a sentence's first one. As a label it means the end
        of speech.
        """
        return self.shape.tokens

    def enter(self, units: Tensor, before: Tensor, speaker: Tensor, keep: Tensor) -> Tensor:
        """Embed units [B, T] and the tokens before them; `keep` holds the pre-net's masks."""
        halves = (self.unit(units), self.token(self.codebook(before), keep))
        x: Tensor = torch.cat(halves, dim=-1) + self.speaker(speaker)[:, None]
        return x

    def predict(self, hidden: Tensor) -> Prediction:
        """Return the predictions from hidden rows [..., D]."""
        return Prediction(self.leave(hidden), self.onset(hidden)[..., 0])

    def step(self, x: Tensor, rotary: RotaryTable, cache: KvCache) -> Tensor:
        """Append a position [1, 1, D] to the cache. Return its hidden row [D]."""
        start = cache.length
        hidden = self.stack(x, rotary.slice(start, start + 1), cache)
        cache.advance(1)
        last: Tensor = hidden[0, -1]
        return last
