"""The open tails of a packed stack are those of the plain one, rounding aside."""

import pytest
import torch
from torch import Tensor

from engine.nn.packed.quantise import Precision, quantise, restore
from engine.nn.packed.tail_stack import PackedTail
from engine.nn.transformer import Linear, RotaryTable, Transformer, TransformerConfig
from engine.tts.voxtream.network.phones import PhoneRows, extend
from tests.engine.nn.stacks import seeded_stack

CONFIG = TransformerConfig(layers=3, width=256, heads=4, kv_heads=2, hidden=512)
TABLE = RotaryTable(CONFIG.head_width, torch.device("cpu"))
COUNT, CUT = 40, 17


@pytest.fixture(scope="module")
def plain() -> Transformer:
    stack = seeded_stack(CONFIG, 0.05)
    for module in stack.modules():
        if isinstance(module, Linear):
            module.weight.copy_(restore(quantise(module.weight, Precision.INT8)))
    return stack


@pytest.fixture(scope="module")
def packed(plain: Transformer) -> PackedTail:
    return PackedTail(
        CONFIG, list(plain.layers), plain.norm.scale, precision=Precision.INT8, threads=2
    )


@pytest.fixture(scope="module")
def embedded() -> Tensor:
    return torch.randn(2, COUNT, CONFIG.width, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("look_ahead", [1, 4])
@pytest.mark.parametrize("window", [625, 9])
def test_rows_follow_the_plain_ones(
    plain: Transformer, packed: PackedTail, embedded: Tensor, look_ahead: int, window: int
) -> None:
    found, expected = PhoneRows(look_ahead, window), PhoneRows(look_ahead, window)
    for start, end in ((0, CUT), (CUT, CUT + 1), (CUT + 1, COUNT)):
        found = extend(found, embedded[:, start:end], packed, TABLE)
        expected = extend(expected, embedded[:, start:end], plain, TABLE)
        assert found.rows.shape == expected.rows.shape == (2, end, CONFIG.width)
        assert (found.rows - expected.rows).norm() / expected.rows.norm() < 0.03


def test_rows_nobody_asks_for_change_no_others(packed: PackedTail, embedded: Tensor) -> None:
    begun = extend(PhoneRows(4, 625), embedded[:, :CUT], packed, TABLE)
    whole = extend(begun, embedded[:, CUT:], packed, TABLE)
    for first in (3, CUT - 2, CUT + 5):
        some = extend(begun.dropped_before(first), embedded[:, CUT:], packed, TABLE)
        assert (some.first, some.rows.shape[1]) == (first, COUNT - first)
        torch.testing.assert_close(some.rows, whole.rows[:, first:], rtol=1e-5, atol=1e-5)
        more = extend(some, embedded[:, :3], packed, TABLE)
        expected = extend(whole, embedded[:, :3], packed, TABLE).rows[:, first:]
        torch.testing.assert_close(more.rows, expected, rtol=1e-5, atol=1e-5)
