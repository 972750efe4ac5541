"""Transformers in training: initial weights, and complete sequences in one call, where a session
goes step by step.

LLMVoX reads text and speech in one sequence, so its attention has to find the text unit that a
position speaks. guide_loss() leads one head there (ours, after the guided attention of Tachibana et
al., 2018). A session does not use it.

Invariant: with the same weights, a row of a sequence equals what a session computes at that step.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.nn import transformer
from engine.nn.transformer import Heads, Transformer

EMBEDDING_DEVIATION: Final = 0.06


def initialise(network: nn.Module) -> None:
    """Draw initial weights for the layers of engine.nn, and make all weights trainable."""
    for module in network.modules():
        if isinstance(module, transformer.Embedding):
            nn.init.normal_(module.weight, std=EMBEDDING_DEVIATION)
        elif isinstance(module, transformer.Linear):
            nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
    network.requires_grad_(requires_grad=True)


def scale_residuals(stack: nn.Module) -> None:
    """Scale down each block's output, so that an untrained stack adds little to its input."""
    assert isinstance(stack, Transformer)
    for block in stack.layers:
        assert isinstance(block, transformer.Block)
        for product in (block.attention.output, block.mlp.down):
            assert isinstance(product, transformer.Linear)
            product.weight.data /= (2 * len(stack.layers)) ** 0.5


def run_stack(
    stack: nn.Module, x: Tensor, mask: Tensor | None = None, layers: list[Heads] | None = None
) -> Tensor:
    """Run a stack on a complete sequence [B, T, D] without a cache. `mask` [B or 1, T, T] is True
    where a position may attend (None = itself and those before). `layers` receives the
    queries and keys of each layer.
    """
    assert isinstance(stack, Transformer)
    config = stack.config
    rotation = stack.rotary.slice(0, x.shape[1], x.device)
    if mask is None:
        mask = transformer.causal_mask(0, x.shape[1], x.device)[None]
    grouped = transformer.group_mask(mask, config)[:, None]  # [B, 1, R T, T]
    for block in stack.layers:
        assert isinstance(block, transformer.Block)
        heads = block.project(x, rotation)
        if layers is not None:
            layers.append(heads)
        x = block.finish(x, heads.queries, transformer.Stored(heads.keys, heads.values), grouped)
    return cast(Tensor, stack.norm(x))


def padded(rows: Iterable[npt.NDArray[Any]], value: float = 0, length: int = 0) -> Tensor:
    """Stack arrays [..., T] of numbers, padded to the longest T, or to `length` if that is more."""
    listed = list(rows)
    kind = np.int64 if listed[0].dtype.kind in "iu" else np.float32
    length = max(length, *(row.shape[-1] for row in listed))
    made = np.full((len(listed), *listed[0].shape[:-1], length), value, kind)
    for place, row in enumerate(listed):
        made[place, ..., : row.shape[-1]] = row
    return torch.from_numpy(made)


def spoken_units(first: int, count: int, starts: Sequence[int], end: int) -> list[int]:
    """Return the index of the text unit that each position of a word speaks, from position
    starts[0] up to `end`. The word has `count` units, the first with index `first`; they are spread
    evenly over its phones, which begin at the positions `starts`.
    """
    phones = len(starts)
    return [
        first + number * count // phones
        for number, (begin, over) in enumerate(pairwise((*starts, end)))
        for _ in range(begin, over)
    ]


def guide_loss(heads: Heads, guide: Tensor) -> Tensor:
    """Return the mean -log share of the first head's causal attention that falls where it should:
    on the unit whose index is in `guide` [B, T] at each position, and on that unit's neighbours, if
    they have been read. Positions with a negative index do not count.
    """
    queries, keys = heads.queries[:, 0].float(), heads.keys[:, 0].float()
    every = torch.arange(guide.shape[1], device=guide.device)
    known = every <= every[:, None]
    where = ((every - guide[:, :, None]).abs() <= 1) & (guide >= 0)[:, :, None] & known
    scores = queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5
    share = scores.masked_fill(~known, float("-inf")).softmax(-1)
    inside: Tensor = (share * where).sum(-1)[where.any(-1)]
    return -inside.clamp(min=1e-4).log().mean()
