"""What the Llama blocks promise beside the arithmetic, which parity compares."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.nn.graphs import FixedKvCache
from engine.nn.transformer import (
    NORM_EPS,
    KvCache,
    RmsNorm,
    RotaryTable,
    Transformer,
    TransformerConfig,
    rotate,
)

CONFIG = TransformerConfig(layers=2, width=64, heads=4, kv_heads=2, hidden=96)
CPU = torch.device("cpu")


@pytest.fixture
def stack() -> Transformer:
    generator = torch.Generator().manual_seed(3)
    model = Transformer(CONFIG).requires_grad_(False)
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.normal_(0, 0.1, generator=generator)
    return model


def run(stack: Transformer, x: Tensor, pieces: list[int]) -> Tensor:
    """Feed x causally in pieces of the given lengths."""
    cache = KvCache(CONFIG, x.shape[0])
    return torch.cat([stack.append(piece, cache) for piece in x.split(pieces, dim=1)], dim=1)


def test_attention_that_lies_another_way_in_memory_gives_the_same(stack, monkeypatch):
    """As a card's kernel for fp32 gives it: [B, T, H, E], seen as [B, H, T, E]."""
    genuine = functional.scaled_dot_product_attention

    def turned(*tensors: Tensor, **options: Tensor) -> Tensor:
        return genuine(*tensors, **options).transpose(1, 2).contiguous().transpose(1, 2)

    x = torch.randn(2, 9, 64, generator=torch.Generator().manual_seed(0))
    expected = run(stack, x, [9])
    monkeypatch.setattr(functional, "scaled_dot_product_attention", turned)
    assert torch.equal(run(stack, x, [9]), expected)


def test_a_fixed_cache_s_mask_is_added_to_the_scores_and_sixteen_positions_go_together():
    fixed = FixedKvCache(CONFIG, 2, 17, CPU, torch.bfloat16)
    fixed.position.fill_(2)
    mask = fixed.mask()
    assert (fixed.capacity, mask.shape, mask.dtype) == (17, (1, 32), torch.bfloat16)
    assert mask[0].tolist() == [0.0] * 3 + [-math.inf] * 29


def test_a_norm_is_exactly_that_of_the_formula_in_fp32_whatever_comes_in():
    norm = RmsNorm(64)
    norm.scale.data = torch.rand(64, generator=torch.Generator().manual_seed(0))
    x = torch.randn(2, 3, 64, generator=torch.Generator().manual_seed(1))
    inverse = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + NORM_EPS)
    assert torch.equal(norm(x), x * inverse * norm.scale)
    x = torch.full((1, 8), 300.0, dtype=torch.float16)  # 300 squared overflows fp16
    assert torch.equal(RmsNorm(8).half()(x), torch.ones(1, 8, dtype=torch.float16))


def test_a_table_that_a_session_made_grows_and_serves_training():
    with torch.inference_mode():
        table = RotaryTable(16, positions=4)
        long = RotaryTable(16, positions=64)
        assert torch.equal(table.slice(40, 41).cos, long.slice(40, 41).cos)
    x = torch.ones(1, 1, 9, 16, requires_grad=True)
    rotate(x, table.slice(0, 9)).sum().backward()
    assert x.grad is not None
