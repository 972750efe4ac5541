"""GPT-2's blocks, on the attention, the residuals and the caches of transformer.py.

The input contains the positions, so nothing is rotated.
"""

import torch
from torch import Tensor
from torch.nn import ModuleList, functional

from engine.nn.transformer import (
    NORM_EPS,
    Attention,
    Block,
    Heads,
    Linear,
    Mlp,
    RmsNorm,
    Rotation,
    Transformer,
    TransformerConfig,
)


class Gpt(Transformer):
    """A stack of GPT-2's blocks without biases, and a last norm; no embedding, no head."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.layers = ModuleList(GptBlock(config) for _ in range(config.layers))
        self.norm = CentredNorm(config.width)


class GptBlock(Block):
    """Attention and MLP, each behind a norm that subtracts the mean."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.attention_norm = CentredNorm(config.width)
        self.attention = UnturnedAttention(config)
        self.mlp_norm = CentredNorm(config.width)
        self.mlp = GeluMlp(config)


class UnturnedAttention(Attention):
    """Attention whose queries and keys are not rotated by their positions."""

    def project(self, x: Tensor, rotation: Rotation) -> Heads:
        config = self.config
        heads = self.qkv(x).view(*x.shape[:2], -1, config.head_width).transpose(1, 2)
        return Heads(*heads.split((config.heads, config.kv_heads, config.kv_heads), dim=1))


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


def unturned(config: TransformerConfig, device: torch.device) -> Rotation:
    """Return the rotation by zero, for graphs that rotate queries and keys."""
    half = config.head_width // 2
    return Rotation(torch.ones(1, half, device=device), torch.zeros(1, half, device=device))
