"""Small stacks with seeded weights."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn

from engine.nn.transformer import Embedding, Linear, Stored, Transformer, TransformerConfig

Network = TypeVar("Network", bound=nn.Module)


CPU = torch.device("cpu")


def seeded_stack(config: TransformerConfig, deviation: float) -> Transformer:
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


def with_codebooks(codec: Network) -> Network:
    """Its codebooks drawn: moshi leaves them at zero, so that all codes are alike."""
    for key, buffer in codec.named_buffers():
        if key.endswith("embedding_sum"):
            buffer.normal_()
        elif key.endswith("cluster_usage"):
            buffer.fill_(1.0)
    return codec


class Everything:
    """Takes the place of a cache: all positions are given at once, so nothing is stored."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Stored:
        return Stored(keys, values)


def at_once(stack: Transformer, rows: Tensor, ahead: int = 0) -> Tensor:
    """Hidden states [1, T, D] of all positions, computed anew; each sees so many behind itself."""
    length = rows.shape[1]
    rotation = stack.rotary.slice(0, length)
    mask = torch.full((length, length), -torch.inf).triu(1 + ahead)
    return stack(rows, rotation, Everything(), mask)


def kept(width: int, share: float, dice: torch.Generator) -> Tensor:
    """What one position keeps [2, width]."""
    chances = torch.full((2, 1, 1, width), 1 - share)
    return torch.bernoulli(chances, generator=dice)[:, 0, 0] / (1 - share)


def passed(weights: Mapping[str, Tensor], name: str, values: Tensor, keep: Tensor) -> Tensor:
    """Values [entry] -> [exit] through the pre-net of that name; `keep` [2, width]."""
    for layer in (0, 1):
        values = (weights[f"{name}.{layer}.weight"] @ values).relu() * keep[layer]
    return weights[f"{name}.2.weight"] @ values
