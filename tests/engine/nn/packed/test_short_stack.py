"""A short stack computes what a packed one does, sequence after sequence."""

import pytest
import torch

from engine.nn.cache import KvCache
from engine.nn.packed.modules import PackedTransformer
from engine.nn.packed.quantise import Precision
from engine.nn.packed.short_stack import ShortSequence, ShortStack
from engine.nn.transformer import RotaryTable, Transformer, TransformerConfig
from tests.engine.nn.stacks import seeded_stack

CPU = torch.device("cpu")
CONFIG = TransformerConfig(layers=2, width=256, heads=4, kv_heads=2, hidden=512)
POSITIONS, FIRST, ROWS = 5, 2, 2
TABLE = RotaryTable(CONFIG.head_width, CPU, POSITIONS)


@pytest.fixture(scope="module")
def plain() -> Transformer:
    return seeded_stack(CONFIG, 0.07)


def short(plain: Transformer, precision: Precision, threads: int = 1) -> ShortStack:
    return ShortStack(
        CONFIG,
        list(plain.layers),
        plain.norm.scale,
        TABLE.slice(0, POSITIONS),
        precision=precision,
        threads=threads,
    )


def draw(seed: int) -> torch.Tensor:
    return torch.randn(ROWS, POSITIONS, CONFIG.width, generator=torch.Generator().manual_seed(seed))


def hidden(sequence: ShortSequence, x: torch.Tensor) -> torch.Tensor:
    """Of the last position after every step, [steps, B, D]."""
    sequence.opening[:] = x[:, :FIRST]
    sequence.run(0)
    found = [sequence.hidden.clone()]
    for step in range(1, POSITIONS - FIRST + 1):
        sequence.following[:] = x[:, FIRST + step - 1 : FIRST + step]
        sequence.run(step)
        found.append(sequence.hidden.clone())
    return torch.stack(found)


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
def test_it_follows_the_packed_stack_step_by_step(plain: Transformer, precision: Precision) -> None:
    packed = PackedTransformer(
        CONFIG, list(plain.layers), plain.norm.scale, precision=precision, threads=1
    )
    x, cache = draw(1), KvCache(CONFIG, ROWS, CPU, torch.float32)
    expected = []
    for end in range(FIRST, POSITIONS + 1):
        start = cache.length
        mask = torch.ones(end - start, end, dtype=torch.bool).tril(start)
        out = packed(x[:, start:end], TABLE.slice(start, end), cache, mask)
        cache.advance(end - start)
        expected.append(out[:, -1])
    found = hidden(short(plain, precision).open(ROWS, FIRST), x)
    assert torch.allclose(found, torch.stack(expected), atol=1e-3)


def test_a_second_thread_changes_nothing(plain: Transformer) -> None:
    found = [
        hidden(short(plain, Precision.INT4, threads).open(ROWS, FIRST), draw(1))
        for threads in (1, 2)
    ]
    assert torch.equal(found[0], found[1])
