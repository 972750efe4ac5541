"""Packed products compute what the restored weights would."""

import pytest
import torch

from engine.nn.cache import KvCache
from engine.nn.graphs import Graphed
from engine.nn.packed.modules import PackedLinear, PackedTransformer
from engine.nn.packed.quantise import INT4_BLOCK, Precision, quantise, restore
from engine.nn.transformer import Linear, RotaryTable, Transformer, TransformerConfig

CPU = torch.device("cpu")
CONFIG = TransformerConfig(layers=2, width=256, heads=4, kv_heads=2, hidden=512)
# Activations are rounded to int8 inside the kernels: about 0.4 % of their largest value.
ACTIVATION_LOSS = 0.015


def relative(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


def packed_twin(stack: Transformer, precision: Precision) -> PackedTransformer:
    return PackedTransformer(
        stack.config, list(stack.layers), stack.norm.scale, precision=precision, threads=1
    )


@pytest.mark.parametrize(("precision", "loss"), [(Precision.INT8, 0.007), (Precision.INT4, 0.105)])
def test_rounding_loses_no_more_than_was_measured_and_a_product_is_that_of_what_is_left(
    precision: Precision, loss: float
) -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(64, 4 * INT4_BLOCK, generator=generator)
    weight[:, :INT4_BLOCK] = 0
    once = restore(quantise(weight, precision))
    assert not once[:, :INT4_BLOCK].any()
    assert relative(once, weight) < loss
    assert relative(restore(quantise(once, precision)), once) < 1e-6
    x = torch.randn(2, 3, 4 * INT4_BLOCK, generator=generator)
    assert relative(PackedLinear(weight, precision)(x), x @ once.T) < ACTIVATION_LOSS


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
def test_a_packed_stack_follows_the_plain_one_step_by_step(precision: Precision) -> None:
    stack = Transformer(CONFIG).requires_grad_(False)
    generator = torch.Generator().manual_seed(0)
    for module in stack.modules():
        if isinstance(module, Linear):
            module.weight.normal_(0, 0.07, generator=generator)
            module.weight.copy_(restore(quantise(module.weight, precision)))
    packed = packed_twin(stack, precision)
    table = RotaryTable(CONFIG.head_width, CPU)
    caches = [KvCache(CONFIG, 2, CPU, torch.float32) for _ in range(2)]
    for length in (4, 1, 1, 3):
        x = torch.randn(2, length, CONFIG.width, generator=generator)
        start = caches[0].length
        mask = torch.ones(length, start + length, dtype=torch.bool).tril(start)
        rotation = table.slice(start, start + length)
        expected = stack(x, rotation, caches[0], mask)
        assert relative(packed(x, rotation, caches[1], mask), expected) < 2 * ACTIVATION_LOSS
        for cache in caches:
            cache.advance(length)


def test_off_cuda_a_graph_is_the_plain_call() -> None:
    box = torch.ones(2)
    doubled = Graphed(lambda: (box * 2,), CPU)
    box.fill_(3)
    assert torch.equal(doubled()[0], torch.full((2,), 6.0))
