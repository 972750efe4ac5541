"""Mimi's packed transformer computes what moshi's does, and streams apart stay apart."""

import pytest
import torch
from moshi.modules.transformer import StreamingTransformer
from torch import nn

from engine.codec.packed_transformer import PackedMimiTransformer, packable
from engine.nn.packed.quantise import Precision, quantise, restore

CONTEXT, COLUMNS = 6, 20  # the ring is written around three times
ACTIVATION_LOSS = 0.015  # activations are rounded to int8 inside the kernels


def plain(**changes) -> StreamingTransformer:
    """Mimi's transformer, small, with weights that packing does not change."""
    shape = {
        "d_model": 64,
        "num_heads": 2,
        "num_layers": 2,
        "dim_feedforward": 128,
        "causal": True,
        "context": CONTEXT,
        "layer_scale": 0.5,
        "positional_embedding": "rope",
    }
    torch.manual_seed(0)
    made = StreamingTransformer(**shape | changes).requires_grad_(False).eval()
    for module in made.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(restore(quantise(module.weight, Precision.INT8)))
        if isinstance(module, nn.LayerNorm):
            module.weight.normal_(1, 0.1)
            module.bias.normal_(0, 0.1)
    return made


@pytest.fixture(scope="module")
def packed() -> PackedMimiTransformer:
    return PackedMimiTransformer(plain(), Precision.INT8)


@pytest.fixture
def columns() -> torch.Tensor:
    return torch.randn(1, COLUMNS, 64, generator=torch.Generator().manual_seed(0))


def streamed(module: PackedMimiTransformer, columns: torch.Tensor, length: int) -> torch.Tensor:
    with module.streaming(1):
        return torch.cat([module(piece) for piece in columns.split(length, dim=1)], dim=1)


@pytest.mark.parametrize("length", [1, 2, 3, COLUMNS])
def test_pieces_of_any_length_give_what_the_plain_one_gives(packed, columns, length):
    expected, found = plain()(columns), streamed(packed, columns, length)
    assert float((found - expected).norm() / expected.norm()) < ACTIVATION_LOSS
    at_once = streamed(packed, columns, COLUMNS)
    assert torch.allclose(found, at_once, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"d_model": 32}, {"dim_feedforward": 96}, {"gating": "silu"}, {"context": None},
        {"norm": "rms_norm_f32"}, {"positional_embedding": "sin"},
    ],
    ids=str,
)  # fmt: skip
def test_another_kind_of_transformer_is_left_alone(changes):
    assert packable(plain(), Precision.INT8)
    assert not packable(plain(), Precision.FLOAT)  # full precision is moshi's own
    torch.manual_seed(0)
    shape = {"d_model": 64, "num_heads": 2, "num_layers": 1, "dim_feedforward": 128}
    mimis = {"causal": True, "context": 6, "positional_embedding": "rope"}
    assert not packable(StreamingTransformer(**shape | mimis | changes), Precision.INT8)
