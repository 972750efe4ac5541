"""Draws from distributions, with the randomness passed in.

Invariant: only `race_noise` advances a generator; given the noise, a draw is a function. The draw
is the exponential race: with e_i ~ Exp(1), argmax p_i / e_i picks i with probability p_i, without
waiting for the device.
"""

import torch
from torch import Tensor


def race_noise(size: int, generator: torch.Generator) -> Tensor:
    """Return [1, size] draws from Exp(1), fp32, on the generator's device."""
    return torch.empty(1, size, device=generator.device).exponential_(1.0, generator=generator)


def guide(conditional: Tensor, unconditional: Tensor, weight: Tensor | float) -> Tensor:
    """Apply classifier-free guidance: weight 1 is the conditional row, above 1 exaggerates it."""
    return weight * conditional + (1 - weight) * unconditional


def draw_nucleus(probabilities: Tensor, mass: float, noise: Tensor) -> Tensor:
    """Draw one of [B, N] among the likeliest whose mass before them is at most `mass`. [B, 1]."""
    masses, ranks = probabilities.sort(dim=-1, descending=True)
    before = masses.cumsum(-1) - masses
    nucleus = torch.where(before > mass, torch.zeros_like(masses), masses)
    nucleus = nucleus / nucleus.sum(-1, keepdim=True)
    return ranks.gather(-1, (nucleus / noise).argmax(-1, keepdim=True))


def draw_top(probabilities: Tensor, count: int, noise: Tensor) -> Tensor:
    """Draw one of [B, N] among the `count` likeliest; noise [B, count]. [B, 1]."""
    best, ranks = probabilities.topk(count, dim=-1)
    return ranks.gather(-1, (best / noise).argmax(-1, keepdim=True))
