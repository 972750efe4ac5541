"""Phone rows with finished ones kept equal rows computed all at once."""

import random

import pytest
import torch
from torch import Tensor

from engine.nn.transformer import RotaryTable, Transformer, TransformerConfig
from engine.tts.voxtream.network.phones import PhoneRows, extend
from tests.engine.nn.stacks import seeded_stack

CONFIG = TransformerConfig(layers=6, width=32, heads=4, kv_heads=2, hidden=48)
TABLE = RotaryTable(CONFIG.head_width, torch.device("cpu"))
COUNT = 70


@pytest.fixture(scope="module")
def stack() -> Transformer:
    return seeded_stack(CONFIG, 0.15)


@pytest.fixture(scope="module")
def embedded() -> Tensor:
    return torch.randn(2, COUNT, 32, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("look_ahead", [1, 3, 5])
@pytest.mark.parametrize("window", [625, 12])
def test_cached_rows_are_uncached(
    stack: Transformer, embedded: Tensor, look_ahead: int, window: int
) -> None:
    whole = extend(PhoneRows(look_ahead, window), embedded, stack, TABLE)
    draw, rows, at = random.Random(look_ahead), PhoneRows(look_ahead, window), 0
    while at < COUNT:
        count = draw.randint(1, 9)
        rows = extend(rows, embedded[:, at : at + count], stack, TABLE)
        at += count
        alone = extend(PhoneRows(look_ahead, window), embedded[:, :at], stack, TABLE)
        torch.testing.assert_close(rows.rows, alone.rows, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(rows.rows, whole.rows, rtol=1e-4, atol=1e-5)


def test_a_row_sees_exactly_as_far_as_its_layers_look(stack: Transformer, embedded: Tensor) -> None:
    plain = extend(PhoneRows(2, 625), embedded, stack, TABLE).rows
    changed = embedded.clone()
    changed[:, 40] += 1
    other = extend(PhoneRows(2, 625), changed, stack, TABLE).rows
    seen = (plain - other).abs().amax(dim=(0, 2)) > 0
    assert int(seen.nonzero()[0]) == 40 - 6 * 2


def test_dropped_rows_change_no_others_and_free_memory(
    stack: Transformer, embedded: Tensor
) -> None:
    whole = extend(PhoneRows(3, 625), embedded, stack, TABLE)
    rows = extend(PhoneRows(3, 625), embedded[:, :40], stack, TABLE).dropped_before(15)
    rows = extend(rows, embedded[:, 40:], stack, TABLE)
    assert rows.first == 15
    for row in (15, COUNT - 1):
        torch.testing.assert_close(rows.row(row), whole.row(row), rtol=1e-4, atol=1e-5)
    long = PhoneRows(1, 12)
    for _ in range(6):
        long = extend(long, embedded, stack, TABLE).dropped_before(long.length)
    assert max(layer.keys.shape[2] for layer in long.layers) <= 12 + 64
    assert long.rows.shape[1] <= 2 * COUNT
