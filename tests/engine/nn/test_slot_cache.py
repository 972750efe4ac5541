"""Sequences that advance together compute what each computes in a cache of its own."""

import pytest
import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.packed.modules import PackedTransformer
from engine.nn.packed.quantise import Precision
from engine.nn.slot_cache import SlotCache
from engine.nn.transformer import RotaryTable, Transformer, TransformerConfig

CPU = torch.device("cpu")
CONFIG = TransformerConfig(layers=2, width=256, heads=4, kv_heads=2, hidden=512)
TABLE = RotaryTable(CONFIG.head_width, CPU)
CAPACITY = 31
LENGTHS = (3, 30, 11)  # positions of each sequence before the first step


@pytest.fixture(scope="module", params=[None, Precision.INT8], ids=["plain", "packed"])
def stack(request: pytest.FixtureRequest) -> Transformer | PackedTransformer:
    made = Transformer(CONFIG).requires_grad_(False)
    generator = torch.Generator().manual_seed(0)
    for parameter in made.parameters():
        if parameter.ndim == 2:
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.05)
    if request.param is None:
        return made
    blocks, scale = list(made.layers), made.norm.scale
    return PackedTransformer(CONFIG, blocks, scale, precision=request.param, threads=1)


def drawn(rows: int, length: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, length, CONFIG.width, generator=generator)


def before(stack: Transformer | PackedTransformer, number: int) -> KvCache:
    """A sequence of two rows, as it is before the first step."""
    cache, length = KvCache(CONFIG, 2, CPU, torch.float32), LENGTHS[number]
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    stack(drawn(2, length, number), TABLE.slice(0, length), cache, mask)
    cache.advance(length)
    return cache


def expected(stack: Transformer | PackedTransformer, number: int, inputs: list[Tensor]) -> Tensor:
    """The last step's output of one sequence alone."""
    cache = before(stack, number)
    for x in inputs:
        out = stack(x, TABLE.slice(cache.length, cache.length + 1), cache, None)
        cache.advance(1)
    return out


def loaded(stack: Transformer | PackedTransformer) -> SlotCache:
    slots = SlotCache(CONFIG, 2 * len(LENGTHS), CAPACITY, CPU, torch.float32)
    for number in range(len(LENGTHS)):
        slots.load(2 * number, before(stack, number))
    return slots


def step(stack: Transformer | PackedTransformer, slots: SlotCache, x: Tensor) -> Tensor:
    rows = len(x)
    out: Tensor = stack(x, slots.rotation(TABLE, rows), slots, slots.mask(rows))
    return out


def test_sequences_at_different_positions_step_together(
    stack: Transformer | PackedTransformer,
) -> None:
    slots, x = loaded(stack), drawn(6, 1, seed=9)
    out = step(stack, slots, x)
    for number in range(3):
        own = slice(2 * number, 2 * number + 2)
        torch.testing.assert_close(out[own], expected(stack, number, [x[own]]))


def test_a_sequence_that_is_not_advanced_is_left_as_it_was_even_when_it_is_full(
    stack: Transformer | PackedTransformer,
) -> None:
    slots, first, second = loaded(stack), drawn(6, 1, seed=9), drawn(6, 1, seed=10)
    step(stack, slots, first)
    slots.advance(torch.tensor([2, 3]))  # the second is full now
    step(stack, slots, second)
    slots.advance(torch.tensor([4, 5]))
    out = step(stack, slots, first)
    torch.testing.assert_close(out[:2], expected(stack, 0, [first[:2]]))
    torch.testing.assert_close(out[4:], expected(stack, 2, [second[4:], first[4:]]))
    full = slots.stored[:, :, 2:4, :, :CAPACITY]
    kept = before(stack, 1)
    stack(first[2:4], TABLE.slice(30, 31), kept, None)
    torch.testing.assert_close(full, kept.stored[..., :CAPACITY, :])


def test_what_a_row_computes_is_the_same_to_the_bit_whatever_the_others_hold(
    stack: Transformer | PackedTransformer,
) -> None:
    x = drawn(6, 1, seed=9)
    out = step(stack, loaded(stack), x)
    slots = loaded(stack)
    slots.load(0, before(stack, 1))
    other = torch.cat((drawn(2, 1, seed=11), x[2:4], drawn(2, 1, seed=12)))
    assert torch.equal(step(stack, slots, other)[2:4], out[2:4])
