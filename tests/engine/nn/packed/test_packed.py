"""Packed products compute what the restored weights would."""

import pytest
import torch
from torch import Tensor

from engine.nn.packed.product_graph import BLOCK, PackedLinear, quantise, restore
from engine.nn.packed.stack_graph import PackedGpt, PackedTransformer
from engine.nn.transformer import Block, KvCache, Linear, Transformer, TransformerConfig
from engine.tts.llmvox.published.model import Gpt
from engine.tts.voxtream.network.phones import PackedTail, PhoneRows, extend
from tests.engine.nn.stacks import Network, seeded_stack

CONFIG = TransformerConfig(layers=2, width=256, heads=4, kv_heads=2, hidden=512)
# Activations are rounded to int8 inside the kernels: about 0.4 % of their largest value.
ACTIVATION_LOSS = 0.015


def relative(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


def rounded(network: Network) -> Network:
    """Products, not to be trained, that packing does not change."""
    generator = torch.Generator().manual_seed(0)
    for module in network.requires_grad_(False).modules():
        if isinstance(module, Linear):
            module.weight.normal_(0, 0.07, generator=generator)
            module.weight.copy_(restore(quantise(module.weight)))
    return network


def test_rounding_loses_no_more_than_was_measured_and_a_product_is_that_of_what_is_left():
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(64, 4 * BLOCK, generator=generator)
    weight[:, :BLOCK] = 0
    once = restore(quantise(weight))
    assert not once[:, :BLOCK].any()
    assert relative(once, weight) < 0.007
    assert relative(restore(quantise(once)), once) < 1e-6
    x = torch.randn(2, 3, 4 * BLOCK, generator=generator)
    assert relative(PackedLinear(weight)(x), x @ once.T) < ACTIVATION_LOSS


def test_a_packed_stack_follows_the_plain_one_step_by_step():
    stack, generator = rounded(Transformer(CONFIG)), torch.Generator().manual_seed(1)
    blocks = list(stack.layers)
    packed = PackedTransformer(CONFIG, blocks, stack.norm.scale, threads=1)
    caches = [KvCache(CONFIG, 2) for _ in range(2)]
    for length in (4, 1, 1, 3):
        x = torch.randn(2, length, CONFIG.width, generator=generator)
        expected = stack.append(x, caches[0])
        assert relative(packed.append(x, caches[1]), expected) < 2 * ACTIVATION_LOSS


# ---------------------------------------------------------------------------------- open tails


TALL = TransformerConfig(layers=3, width=256, heads=4, kv_heads=2, hidden=512)
COUNT, CUT = 40, 17


@pytest.fixture(scope="module")
def plain() -> Transformer:
    stack = seeded_stack(TALL, 0.05)
    for module in stack.modules():
        if isinstance(module, Linear):
            module.weight.copy_(restore(quantise(module.weight)))
    return stack


@pytest.fixture(scope="module")
def packed_tail(plain) -> PackedTail:
    return PackedTail(TALL, list(plain.layers), plain.norm.scale, threads=2)


@pytest.fixture(scope="module")
def embedded() -> Tensor:
    return torch.randn(2, COUNT, TALL.width, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("look_ahead", [1, 4])
@pytest.mark.parametrize("window", [625, 9])
def test_rows_follow_the_plain_ones(plain, packed_tail, embedded, look_ahead, window):
    found, expected = PhoneRows(look_ahead, window), PhoneRows(look_ahead, window)
    for start, end in ((0, CUT), (CUT, CUT + 1), (CUT + 1, COUNT)):
        found = extend(found, embedded[:, start:end], packed_tail)
        expected = extend(expected, embedded[:, start:end], plain)
        assert found.rows.shape == expected.rows.shape == (2, end, TALL.width)
        assert (found.rows - expected.rows).norm() / expected.rows.norm() < 0.03


def test_rows_nobody_asks_for_change_no_others(packed_tail, embedded):
    begun = extend(PhoneRows(4, 625), embedded[:, :CUT], packed_tail)
    whole = extend(begun, embedded[:, CUT:], packed_tail)
    for first in (3, CUT - 2, CUT + 5):
        some = extend(begun.dropped_before(first), embedded[:, CUT:], packed_tail)
        assert (some.first, some.rows.shape[1]) == (first, COUNT - first)
        assert torch.allclose(some.rows, whole.rows[:, first:], rtol=1e-5, atol=1e-5)
        more = extend(some, embedded[:, :3], packed_tail)
        expected = extend(whole, embedded[:, :3], packed_tail).rows[:, first:]
        assert torch.allclose(more.rows, expected, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------------------------- GPT-2's blocks


GPT = TransformerConfig(layers=2, width=256, heads=4, kv_heads=4, hidden=512)


def test_packed_products_are_those_of_restored_weights_position_by_position():
    plain, generator = rounded(Gpt(GPT)), torch.Generator().manual_seed(1)
    for scale in (p for name, p in plain.named_parameters() if name.endswith("scale")):
        scale.uniform_(0.5, 1.5, generator=generator)
    blocks = (block for block in plain.layers if isinstance(block, Block))
    packed = PackedGpt(GPT, blocks, plain.norm.scale, threads=1)
    caches = [KvCache(GPT) for _ in range(2)]
    for x in torch.randn(1, 5, GPT.width, generator=generator).split(1, dim=1):
        wanted, found = plain.append(x, caches[0]), packed.append(x, caches[1])
        assert relative(found, wanted) < 2 * ACTIVATION_LOSS
