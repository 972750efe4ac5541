"""The pre-net written out, for the slow loops that sessions are compared with."""

from collections.abc import Mapping

import torch
from torch import Tensor


def kept(width: int, share: float, dice: torch.Generator) -> Tensor:
    """What one position keeps [2, width]."""
    chances = torch.full((2, 1, 1, width), 1 - share)
    return torch.bernoulli(chances, generator=dice)[:, 0, 0] / (1 - share)


def passed(weights: Mapping[str, Tensor], name: str, values: Tensor, keep: Tensor) -> Tensor:
    """Values [entry] -> [exit] through the pre-net of that name; `keep` [2, width]."""
    for layer in (0, 1):
        values = (weights[f"{name}.{layer}.weight"] @ values).relu() * keep[layer]
    return weights[f"{name}.2.weight"] @ values
