"""Phone rows with finished ones kept equal rows computed all at once."""

import random

import pytest
import torch
from torch import Tensor

from engine.nn.transformer import Linear, RotaryTable, Transformer, TransformerConfig
from engine.tts.voxtream.network.phones import PhoneRows, extend

CONFIG = TransformerConfig(layers=6, width=32, heads=4, kv_heads=2, hidden=48)
TABLE = RotaryTable(CONFIG.head_width, torch.device("cpu"))
COUNT = 70


@pytest.fixture(scope="module")
def stack() -> Transformer:
    model = Transformer(CONFIG)
    generator = torch.Generator().manual_seed(0)
    for module in model.modules():
        if isinstance(module, Linear):
            module.weight.normal_(0, 0.15, generator=generator)
    return model


@pytest.fixture(scope="module")
def embedded() -> Tensor:
    return torch.randn(2, COUNT, 32, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("look_ahead", [1, 3, 5])
@pytest.mark.parametrize("window", [625, 12])
def test_cached_rows_equal_uncached_ones(
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


def test_dropping_spoken_rows_changes_none_of_the_others(
    stack: Transformer, embedded: Tensor
) -> None:
    whole = extend(PhoneRows(3, 625), embedded, stack, TABLE)
    rows = extend(PhoneRows(3, 625), embedded[:, :40], stack, TABLE).dropped_before(15)
    rows = extend(rows, embedded[:, 40:], stack, TABLE)
    assert rows.first == 15
    torch.testing.assert_close(rows.row(15), whole.row(15), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(rows.row(COUNT - 1), whole.row(COUNT - 1), rtol=1e-4, atol=1e-5)


def test_memory_of_a_long_text_stays_bounded(stack: Transformer, embedded: Tensor) -> None:
    rows = PhoneRows(1, 12)
    for _ in range(6):
        rows = extend(rows, embedded, stack, TABLE).dropped_before(rows.length)
    assert max(layer.keys.shape[2] for layer in rows.layers) <= 12 + 64
    assert rows.rows.shape[1] <= COUNT + 6
