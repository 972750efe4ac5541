"""The house's transformers in training: first weights, and whole sequences at once, which a session
feeds step by step.

LLMVoX reads text and speech in one sequence, and has to find the text of a position itself.
AttentionGuide measures whether attention finds it, and gives a loss that leads it there (ours,
after the guided attention of Tachibana et al., 2018); a session does not use it.

Invariant: with the same weights, a row of a sequence is what a session computes at that step.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import torch
from torch import Tensor, nn

from engine.nn.cache import KvCache
from engine.nn.transformer import (
    Block,
    Embedding,
    Heads,
    Linear,
    RotaryTable,
    Stored,
    Transformer,
    TransformerConfig,
)
from engine.training.recipe import Stack

EMBEDDING_DEVIATION: Final = 0.06


def stack_config(width: int, shape: Stack) -> TransformerConfig:
    """Return the configuration of the stack that a recipe describes."""
    return TransformerConfig(shape.layers, width, shape.heads, shape.kv_heads, shape.hidden)


def first_weights(network: nn.Module) -> None:
    """Draw the weights of the house's own layers from torch's generator, ready to learn."""
    for module in network.modules():
        if isinstance(module, Embedding):
            nn.init.normal_(module.weight, std=EMBEDDING_DEVIATION)
        elif isinstance(module, Linear):
            nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
    network.requires_grad_(requires_grad=True)


def scale_residuals(stack: nn.Module) -> None:
    """Let a stack's untrained blocks add little: less, the more blocks there are."""
    assert isinstance(stack, Transformer)
    for block in stack.layers:
        assert isinstance(block, Block)
        for product in (block.attention.output, block.mlp.down):
            assert isinstance(product, Linear)
            product.weight.data /= (2 * len(stack.layers)) ** 0.5


def causal(length: int, device: torch.device) -> Tensor:
    """Return the causal mask [1, T, T]: each position sees itself and those before."""
    return torch.ones(1, length, length, dtype=torch.bool, device=device).tril()


_rotary = lru_cache(RotaryTable)


def run_stack(
    stack: nn.Module, x: Tensor, mask: Tensor, watch: Callable[[int, Heads], None] | None = None
) -> Tensor:
    """Run a stack on [B, T, D] without a cache; mask [B or 1, T, T], True = may look. `watch`
    receives every layer's queries and keys.
    """
    assert isinstance(stack, Transformer)
    config = stack.config
    rotation = _rotary(config.head_width, x.device).slice(0, x.shape[1])
    grouped = mask.repeat(1, config.group, 1)[:, None]  # [B, 1, R T, T]
    for number, block in enumerate(stack.layers):
        assert isinstance(block, Block)
        heads = block.project(x, rotation)
        if watch is not None:
            watch(number, heads)
        x = block.finish(x, heads.queries, Stored(heads.keys, heads.values), grouped)
    out: Tensor = stack.norm(x)
    return out


@torch.no_grad()
def run_steps(stack: nn.Module, steps: int, row: Callable[[int, Tensor | None], Tensor]) -> None:
    """Run a stack place by place, as a session does: `row` receives every place and the output of
    the one before [B, D] (None before the first), and returns its input [B, D].
    """
    assert isinstance(stack, Transformer)
    x = row(0, None)
    cache = KvCache(stack.config, len(x), x.device, x.dtype, growth=steps)
    table = _rotary(stack.config.head_width, x.device)
    for place in range(1, steps):
        hidden = stack(x[:, None], table.slice(place - 1, place), cache)
        cache.advance(1)
        x = row(place, hidden[:, 0])


# ----------------------------------------------------------------------- guide


def places(first: int, count: int, starts: Sequence[int], end: int) -> list[int]:
    """The spoken unit of every position of a word, from starts[0] to `end`: its `count` units, the
    first at place `first`, are spoken by phones that begin at `starts`.
    """
    phones = len(starts)
    return [
        first + number * count // phones
        for number, (begin, over) in enumerate(pairwise((*starts, end)))
        for _ in range(begin, over)
    ]


def allowed(guide: Tensor) -> Tensor:
    """Return the allowed targets of attention [B, T, T]: the position's place in `guide` [B, T] and
    its neighbours, as far as they have been read. A negative place allows none.
    """
    every = torch.arange(guide.shape[1], device=guide.device)
    near = (every - guide[:, :, None]).abs() <= 1
    return near & (guide >= 0)[:, :, None] & (every <= every[:, None])


def attention_share(queries: Tensor, keys: Tensor, where: Tensor) -> Tensor:
    """The share of the causal attention of queries [B, T, E] to keys [B, T, E] that falls on
    `where` [B, T, T], at the positions [N] that have such a place.
    """
    scores = queries.float() @ keys.float().transpose(1, 2) / queries.shape[-1] ** 0.5
    known = torch.ones_like(where[0]).tril()
    share: Tensor = scores.masked_fill(~known, float("-inf")).softmax(-1)
    return (share * where).sum(-1)[where.any(-1)]


class AttentionGuide:
    """Receives the attention heads of every layer. `best`: the largest mean share of any head so
    far. `loss`: the loss of the guided head, the first one of a layer.
    """

    def __init__(self, where: Tensor, guided: int, *, every: bool) -> None:
        """`guided` is the layer. `every`: measure all heads, not the guided one alone."""
        self._where, self._guided, self._every = where, guided, every
        self.best = self.loss = torch.zeros((), device=where.device)

    def __call__(self, layer: int, heads: Heads) -> None:
        group = heads.queries.shape[1] // heads.keys.shape[1]
        for head in range(heads.queries.shape[1]):
            is_guided = head == 0 and layer == self._guided
            if not (self._every or is_guided):
                continue
            share = attention_share(
                heads.queries[:, head], heads.keys[:, head // group], self._where
            )
            self.best = torch.maximum(self.best, share.mean().detach())
            if is_guided:
                self.loss = -share.clamp(min=1e-4).log().mean()
