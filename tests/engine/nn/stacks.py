"""Small stacks with seeded weights."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import nn

from engine.nn.transformer import Embedding, Linear, Transformer, TransformerConfig

Network = TypeVar("Network", bound=nn.Module)


CPU = torch.device("cpu")


def seeded_stack(config: TransformerConfig, deviation: float) -> Transformer:
    """Products and the last norm drawn from one generator."""
    stack = Transformer(config).requires_grad_(False)
    generator = torch.Generator().manual_seed(0)
    for module in stack.modules():
        if isinstance(module, Linear):
            module.weight.normal_(0, deviation, generator=generator)
    stack.norm.scale.uniform_(0.5, 1.5, generator=generator)
    return stack


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draws inside are those of the seed, and those outside are left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def lively(network: Network, embeddings: float = 0.5) -> Network:
    """Weights, not to be trained, for which it matters what came before."""
    for module in network.modules():
        if isinstance(module, Embedding):
            nn.init.normal_(module.weight, std=embeddings)
        elif isinstance(module, Linear):
            nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
    return network.eval().requires_grad_(requires_grad=False)
