"""Laws of the Llama blocks, on a stack small enough to check by hand-made means."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.nn.cache import FixedKvCache, KvCache
from engine.nn.transformer import (
    NORM_EPS,
    RmsNorm,
    RotaryTable,
    Transformer,
    TransformerConfig,
    rope_frequencies,
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
    cache = KvCache(CONFIG, x.shape[0], CPU, torch.float32)
    table = RotaryTable(CONFIG.head_width, CPU)
    out = []
    for length in pieces:
        start = cache.length
        mask = torch.ones(length, start + length, dtype=torch.bool).tril(start)
        piece = x[:, start : start + length]
        out.append(stack(piece, table.slice(start, start + length), cache, mask))
        cache.advance(length)
    return torch.cat(out, dim=1)


def test_position_by_position_equals_all_at_once(stack: Transformer) -> None:
    x = torch.randn(2, 9, 64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(run(stack, x, [1] * 9), run(stack, x, [9]), rtol=1e-5, atol=1e-5)
    changed = x.clone()
    changed[:, 4:] += 1  # later: it changes nothing before it
    assert torch.equal(run(stack, x, [9])[:, :4], run(stack, changed, [9])[:, :4])


def test_attention_that_lies_another_way_in_memory_gives_the_same(
    stack: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a card's kernel for fp32 gives it: [B, T, H, E], seen as [B, H, T, E]."""
    genuine = functional.scaled_dot_product_attention

    def turned(*tensors: Tensor, **options: Tensor) -> Tensor:
        return genuine(*tensors, **options).transpose(1, 2).contiguous().transpose(1, 2)

    x = torch.randn(2, 9, 64, generator=torch.Generator().manual_seed(0))
    expected = run(stack, x, [9])
    monkeypatch.setattr(functional, "scaled_dot_product_attention", turned)
    assert torch.equal(run(stack, x, [9]), expected)


def test_a_fixed_cache_s_mask_is_added_to_the_scores_and_sixteen_positions_go_together() -> None:
    fixed = FixedKvCache(CONFIG, 2, 17, CPU, torch.bfloat16)
    fixed.position.fill_(2)
    mask = fixed.mask()
    assert (fixed.capacity, mask.shape, mask.dtype) == (17, (1, 32), torch.bfloat16)
    assert mask[0].tolist() == [0.0] * 3 + [-math.inf] * 29


def test_a_copied_cache_and_its_origin_do_not_disturb_each_other(stack: Transformer) -> None:
    x = torch.randn(1, 4, 64, generator=torch.Generator().manual_seed(2))
    table = RotaryTable(CONFIG.head_width, CPU)
    cache = KvCache(CONFIG, 1, CPU, torch.float32)
    stack(x[:, :3], table.slice(0, 3), cache, torch.ones(3, 3, dtype=torch.bool).tril())
    cache.advance(3)
    twin = cache.copy(3)
    stack(torch.zeros(1, 1, 64), table.slice(3, 4), twin)
    twin.advance(1)
    out = stack(x[:, 3:], table.slice(3, 4), cache)
    torch.testing.assert_close(out, run(stack, x, [4])[:, 3:], rtol=1e-5, atol=1e-5)


def test_rotation_keeps_lengths_and_depends_only_on_distance() -> None:
    table = RotaryTable(16, CPU)
    a, b = torch.randn(2, 1, 16, generator=torch.Generator().manual_seed(0))
    near = rotate(a, table.slice(3, 4)) @ rotate(b, table.slice(7, 8)).T
    far = rotate(a, table.slice(1003, 1004)) @ rotate(b, table.slice(1007, 1008)).T
    torch.testing.assert_close(near, far, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(rotate(a, table.slice(9, 10)).norm(), a.norm())


def test_short_waves_keep_their_frequency_and_long_ones_are_stretched() -> None:
    frequencies = rope_frequencies(128)
    assert frequencies[0] == 1.0
    plain_last = 500_000.0 ** (-126 / 128)
    assert math.isclose(float(frequencies[-1]), plain_last / 32, rel_tol=1e-5)


def test_a_norm_is_exactly_that_of_the_formula_in_fp32_whatever_comes_in() -> None:
    norm = RmsNorm(64)
    norm.scale.data = torch.rand(64, generator=torch.Generator().manual_seed(0))
    x = torch.randn(2, 3, 64, generator=torch.Generator().manual_seed(1))
    inverse = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + NORM_EPS)
    assert torch.equal(norm(x), x * inverse * norm.scale)
    x = torch.full((1, 8), 300.0, dtype=torch.float16)  # 300 squared overflows fp16
    assert torch.equal(RmsNorm(8).half()(x), torch.ones(1, 8, dtype=torch.float16))


def test_a_table_that_a_session_made_grows_and_serves_training() -> None:
    with torch.inference_mode():
        table = RotaryTable(16, CPU, positions=4)
        long = RotaryTable(16, CPU, positions=64)
        assert torch.equal(table.slice(40, 41).cos, long.slice(40, 41).cos)
    x = torch.ones(1, 1, 9, 16, requires_grad=True)
    rotate(x, table.slice(0, 9)).sum().backward()
    assert x.grad is not None
