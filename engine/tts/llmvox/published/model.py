"""The network of the published LLMVoX (3.3), written anew: blocks of GPT-2 that read a byte of the
text and the token before, both as vectors of other networks.

Invariant: forward never writes to the module; the state of a sentence is the cache passed in.
"""

from collections import deque
from dataclasses import dataclass
from typing import Annotated, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.nn.packed.product_graph import PackedLinear, fills_blocks
from engine.nn.packed.stack_graph import PackedGpt
from engine.nn.transformer import (
    NORM_EPS,
    Block,
    Embedding,
    KvCache,
    Linear,
    Mlp,
    RmsNorm,
    Transformer,
    TransformerConfig,
)
from engine.settings.rules import Range
from engine.tts.llmvox.model import NOTHING, WORD
from engine.tts.llmvox.session import Sentence

UNITS: Final = NOTHING + 1  # bytes, and three marks
TOKEN_SAMPLES: Final = 320
TOKENS_PER_UNIT: Final = 4.5  # 75 tokens and some 16 bytes a second
_NORM_EPS: Final = 1e-8


@dataclass(frozen=True)
class PublishedShape:
    """Shape of a checkpoint. `tokens` does not count the entry of the end; `entry` and `text` are
    the widths of a token's and a unit's vector, `positions` is the longest sentence.
    """

    stack: TransformerConfig
    tokens: Annotated[int, Range(1, 65_536)] = 4095
    positions: Annotated[int, Range(256, 65_536)] = 8192  # room for the longest word
    entry: Annotated[int, Range(1, 4096)] = 512
    text: Annotated[int, Range(1, 4096)] = 256


class Gpt(Transformer):
    """A stack of GPT-2's blocks without biases, and a last norm; no embedding, no head. The input
    contains the positions, so all angles are 0.
    """

    TURNS = False

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.layers = nn.ModuleList(GptBlock(config) for _ in range(config.layers))
        self.norm = CentredNorm(config.width)


class GptBlock(Block):
    """Attention and MLP, each behind a norm that subtracts the mean."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.attention_norm = CentredNorm(config.width)
        self.mlp_norm = CentredNorm(config.width)
        self.mlp = GeluMlp(config)


class CentredNorm(RmsNorm):
    """(x - mean(x)) / deviation(x) * scale."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x, self.scale.shape, self.scale, eps=NORM_EPS)


class GeluMlp(Mlp):
    """down(gelu(up x)), with the tanh form of GELU; `gate_up` is the product up alone."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.gate_up = Linear(config.width, config.hidden)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(functional.gelu(self.gate_up(x), approximate="tanh"))
        return out


class PublishedModel(nn.Module):
    """The published network. As in our own model, the end is the last label. Its vector is zeros,
    and also stands in place of the token before the first one.
    """

    def __init__(self, shape: PublishedShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.stack.width
        self.unit = Embedding(UNITS, shape.text)
        self.codebook = Embedding(shape.tokens + 1, shape.entry)
        self.position = Embedding(shape.positions, width)
        self.stack: Gpt | PackedGpt = Gpt(shape.stack)
        self.leave: Linear | PackedLinear = Linear(width, shape.tokens + 1)

    def enter(self, units: Tensor, before: Tensor, places: Tensor) -> Tensor:
        """Embed units, the tokens before them and their positions, [B, T] -> [B, T, D]."""
        halves = torch.cat((self.unit(units), self.codebook(before)), dim=-1)
        placed: Tensor = self.position(places)
        return functional.normalize(halves, dim=-1, eps=_NORM_EPS) + placed

    def pack(self, *, threads: int) -> None:
        """Replace the products by 8-bit ones if their sizes allow it. Only for the CPU."""
        widths = (self.shape.stack.width, self.shape.stack.hidden)
        if not fills_blocks(*widths):
            return
        stack, leave = self.stack, self.leave
        assert isinstance(stack, Gpt)
        assert isinstance(leave, Linear), "packed once"
        blocks = (layer for layer in stack.layers if isinstance(layer, Block))
        self.stack = PackedGpt(stack.config, blocks, stack.norm.scale, threads=threads)
        self.leave = PackedLinear(leave.weight, threads=threads)


class PublishedSentence(Sentence):
    """A sentence of the published network."""

    def __init__(self, model: PublishedModel) -> None:
        weight, shape = model.position.weight, model.shape
        cache = KvCache(shape.stack, 1, weight.device, weight.dtype)
        super().__init__(cache, shape.tokens, shape.positions - 1)
        self._model = model
        self._due: deque[float] = deque()  # estimated first tokens of words
        self._begins = False  # a word begins with the next token

    def predict(self, unit: int, before: int) -> Tensor:
        """Return the logits. The network has no output for onsets of words; they are estimated from
        the number of bytes read.
        """
        model, place = self._model, self.length
        heard = torch.tensor([unit, before, place], device=model.position.weight.device)
        hidden = model.stack.append(model.enter(*heard.view(3, 1, 1)), self._cache)
        self._begins = bool(self._due) and place >= self._due[0]
        if self._begins:
            self._due.popleft()
        if unit == WORD:
            self._due.append((place + 1) * TOKENS_PER_UNIT)
        logits: Tensor = model.leave(hidden)[0, -1]
        return logits

    def say(self, token: int) -> int:
        return int(self.length == 1 or self._begins)
