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

from engine.nn.cache import KvCache
from engine.nn.gpt import Gpt, unturned
from engine.nn.packed.modules import PackedGpt, PackedLinear
from engine.nn.packed.quantise import fills_blocks
from engine.nn.transformer import Block, Embedding, Linear, TransformerConfig
from engine.settings.rules import Range
from engine.tts.llmvox.config import NOTHING, WORD
from engine.tts.llmvox.model import Prediction

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
    positions: Annotated[int, Range(1, 65_536)] = 8192
    entry: Annotated[int, Range(1, 4096)] = 512
    text: Annotated[int, Range(1, 4096)] = 256


PUBLISHED: Final = PublishedShape(
    TransformerConfig(layers=4, width=768, heads=8, kv_heads=8, hidden=3072)
)


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


class PublishedReplica:
    """The published network with the state of one sentence."""

    def __init__(self, model: PublishedModel) -> None:
        self._model = model
        self._device = model.position.weight.device
        self._cache = KvCache(model.shape.stack, 1, self._device, model.position.weight.dtype)
        self._rotation = unturned(model.shape.stack, self._device)
        self._due: deque[float] = deque()  # estimated first tokens of words

    @property
    def length(self) -> int:
        return self._cache.length

    def predict(self, unit: int, before: int) -> Prediction:
        """Return the predictions. The network has no output for onsets of words; they are estimated
        from the number of bytes read.
        """
        model, place = self._model, self._cache.length
        heard = torch.tensor([unit, before, place], device=self._device)
        x = model.enter(*heard.view(3, 1, 1))
        hidden = model.stack(x, self._rotation, self._cache)
        self._cache.advance(1)
        begins = bool(self._due) and place >= self._due[0]
        if begins:
            self._due.popleft()
        if unit == WORD:
            self._due.append((place + 1) * TOKENS_PER_UNIT)
        return Prediction(model.leave(hidden)[0, -1], torch.tensor(1.0 if begins else -1.0))

    def say(self, token: int, predicted: Prediction) -> int:
        return int(self.length == 1 or float(predicted.onset) > 0)

    def restart(self) -> None:
        self._cache.restart()
        self._due.clear()
