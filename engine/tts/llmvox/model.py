"""LLMVoX's network, and the shape and constants of a pack: a causal transformer that reads a text
unit and the token before, and predicts the next token (3.3).

Ours: rotary positions instead of a learnt table, so that a sentence may have any length; a pre-net
for the token before; the speaker's vector, added at every step; an output for the onsets of words.
Invariant: a pack's config.json decides the shape of every tensor. Forward never writes to the
module; the state of a sentence is the cache passed in.
"""

from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

import torch
from torch import Tensor, nn

from engine.nn.prenet import Prenet
from engine.nn.transformer import Embedding, KvCache, Linear, Transformer, TransformerConfig
from engine.settings.rules import Range
from engine.tts import phones
from engine.tts.papers.spectrum import SpectrumShape

NAME: Final = "llmvox"
TOKEN_RATE: Final = 25  # Hz; the paper's is 75
ENTRY: Final = 128  # width of a token's vector
VOCABULARY: Final = 260  # of units: phones, or bytes for the published weights

# Ids of units that are neither phones nor bytes.
WORD, TEXT_END, NOTHING = 256, 257, 258


@dataclass(frozen=True)
class LlmVoxShape:
    """Shape of one set of weights. `spectrum`: the network that turns the tokens into spectra. The
    label after all tokens is the end of the speech (ours: the paper uses an entry of the codebook).
    """

    stack: TransformerConfig
    spectrum: SpectrumShape
    prenet: Annotated[int, Range(1, 16_384)] = 128
    vocabulary: Annotated[int, Range(VOCABULARY, VOCABULARY)] = VOCABULARY

    @property
    def tokens(self) -> int:
        return self.spectrum.tokens


@dataclass(frozen=True)
class LlmVoxGeneration:
    """Constants of generation. The first `first_chunk` tokens of a sentence are decoded together;
    each later chunk is `growth` times as long (Algorithm 1: 2; its published server: 3), up to
    `largest_chunk`.
    """

    first_chunk: Annotated[int, Range(1, 1280)] = 2
    growth: Annotated[int, Range(1, 16)] = 1  # the decoder here is causal, so chunks need not grow
    largest_chunk: Annotated[int, Range(1, 10_000)] = 1280
    # tokens for every unit of a sentence; then it must end
    longest_unit: Annotated[int, Range(1, 1000)] = 10
    # of one token in a row; then another must follow
    most_repeats: Annotated[int, Range(1, 100_000)] = 20
    # of the tokens; 0 = the likeliest, as in the published server
    temperature: Annotated[float, Range(0, 100)] = 0.0
    dropout: Annotated[float, Range(0, 0.99)] = 0.5  # of the pre-net (ours)
    spectrum_dropout: Annotated[float, Range(0, 0.99)] = 0.5  # of the spectrum's pre-net


@dataclass(frozen=True)
class LlmVoxPackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: LlmVoxShape
    generation: LlmVoxGeneration

    def check(self) -> None:
        """Raise ValueError for values that do not fit each other."""
        spectrum = self.shape.spectrum
        if spectrum.tokens % spectrum.phones:
            raise ValueError(f"{spectrum.tokens} tokens for {spectrum.phones} phones")


assert phones.VOCABULARY <= WORD, "units of phones and marks share ids"


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

    def step(self, x: Tensor, cache: KvCache) -> Tensor:
        """Append a position [1, 1, D] to the cache. Return its hidden row [D]."""
        return self.stack.append(x, cache)[0, -1]
