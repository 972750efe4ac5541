"""Weights in few bits: how a matrix is rounded, and what was lost.

Invariant: rounding is per block of consecutive inputs of one output row, symmetric around zero, and
deterministic; `restore(quantise(w))` differs from w by at most half a step of each block's scale.
"""

from dataclasses import dataclass
from enum import Enum

import torch
from torch import Tensor

BLOCK = 64  # inputs that share a scale; 32 was 15 % slower, 128 lost more of the logits


class Precision(Enum):
    """How the products of one part of a model are stored."""

    FLOAT = "float"  # as computed: fp32 on the CPU, bf16 on CUDA
    INT8 = "int8"
    INT4 = "int4"

    @property
    def bits(self) -> int:
        """Bits per weight of the packed forms."""
        return {Precision.INT8: 8, Precision.INT4: 4}[self]


@dataclass(frozen=True)
class Quantised:
    """A matrix [N, K] in blocks: `codes` uint8 [N, blocks, BLOCK * bits / 8] (4 bit: the even input
    in the low half), `scales` fp32 [N, blocks]. A weight is (code - 2^(bits-1)) * scale.
    """

    codes: Tensor
    scales: Tensor
    bits: int


def quantise(weight: Tensor, precision: Precision) -> Quantised:
    """Round [N, K] to 8 or 4 bits; K must be a multiple of BLOCK."""
    rows, columns = weight.shape
    assert columns % BLOCK == 0, f"{columns} inputs do not fill blocks of {BLOCK}"
    bits = precision.bits
    middle = 1 << (bits - 1)
    blocks = weight.float().reshape(rows, columns // BLOCK, BLOCK)  # [N, blocks, BLOCK]
    largest = blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True))
    # The largest value takes the one code that has no mirror image, so that no code is wasted.
    scales = largest / -middle
    inverse = torch.where(scales == 0, torch.zeros_like(scales), 1 / scales)
    codes = (blocks * inverse).round_().add_(middle).clamp_(0, 2 * middle - 1).to(torch.uint8)
    if bits == 4:
        codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
    return Quantised(codes.contiguous(), scales.squeeze(-1).contiguous(), bits)


def restore(quantised: Quantised) -> Tensor:
    """The matrix [N, K] fp32 that a packed product really multiplies with."""
    codes = quantised.codes
    if quantised.bits == 4:
        codes = torch.stack((codes & 15, codes >> 4), dim=-1).flatten(-2)
    middle = 1 << (quantised.bits - 1)
    return ((codes.float() - middle) * quantised.scales[..., None]).flatten(1)
