"""The house's transformers in training: first weights, and whole sequences at once, which a session
feeds step by step.

Invariant: with the same weights, a row of a sequence is what a session computes at that step.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import torch
from torch import Tensor, nn

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
from engine.training import recipe as recipes

EMBEDDING_DEVIATION: Final = 0.06


def stack_config(width: int, shape: recipes.Stack) -> TransformerConfig:
    """The stack a recipe asks for."""
    return TransformerConfig(shape.layers, width, shape.heads, shape.kv_heads, shape.hidden)


def first_weights(network: nn.Module) -> None:
    """Draw the weights of the house's own layers from torch's generator, ready to learn."""
    for module in network.modules():
        if isinstance(module, Embedding):
            nn.init.normal_(module.weight, std=EMBEDDING_DEVIATION)
        elif isinstance(module, Linear):
            nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
    network.requires_grad_(requires_grad=True)


def calm(stack: nn.Module) -> None:
    """Make a stack's first blocks add little, the less the more there are."""
    assert isinstance(stack, Transformer)
    for block in stack.layers:
        assert isinstance(block, Block)
        for product in (block.attention.output, block.mlp.down):
            assert isinstance(product, Linear)
            product.weight.data /= (2 * len(stack.layers)) ** 0.5


def causal(length: int, device: torch.device) -> Tensor:
    """The mask [1, T, T] with which every place sees itself and those before."""
    return torch.ones(1, length, length, dtype=torch.bool, device=device).tril()


_rotary = lru_cache(RotaryTable)


def run_stack(
    stack: nn.Module, x: Tensor, mask: Tensor, watch: Callable[[int, Heads], None] | None = None
) -> Tensor:
    """A whole stack on [B, T, D] without a cache; mask [B or 1, T, T], True = may look. `watch` is
    told every layer's queries and keys.
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
