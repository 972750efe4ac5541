"""Small stacks with seeded weights."""

import torch

from engine.nn.transformer import Linear, Transformer, TransformerConfig


def seeded_stack(config: TransformerConfig, deviation: float) -> Transformer:
    """Products and the last norm drawn from one generator."""
    stack = Transformer(config).requires_grad_(False)
    generator = torch.Generator().manual_seed(0)
    for module in stack.modules():
        if isinstance(module, Linear):
            module.weight.normal_(0, deviation, generator=generator)
    stack.norm.scale.uniform_(0.5, 1.5, generator=generator)
    return stack
