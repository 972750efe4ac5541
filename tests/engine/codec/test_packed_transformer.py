"""Mimi's packed transformer computes what moshi's does, and streams apart stay apart."""

from typing import Any

import pytest
import torch
from moshi.modules.seanet import SEANetDecoder
from moshi.modules.transformer import StreamingTransformer
from torch import nn

from engine.codec import packed_seanet
from engine.codec.mimi import random_mimi
from engine.codec.packed_seanet import PackedSeanet
from engine.codec.packed_transformer import PackedMimiTransformer, packable
from engine.codec.products import FEW, ProductConv
from engine.nn.packed.quantise import Precision, quantise, restore
from tests.engine.tts.voxtream.small_model import narrow_sections

CONTEXT, COLUMNS = 6, 20  # the ring is written around three times
ACTIVATION_LOSS = 0.015  # activations are rounded to int8 inside the kernels


def plain(**changes) -> StreamingTransformer:
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


# --------------------------------------------- convolutions as products, and the whole codec tuned


def wide_enough() -> dict[str, Any]:
    """The narrow codec with a transformer and products whose widths fill blocks."""
    sections, width = narrow_sections(), 64
    sections["seanet"] |= {"dimension": width, "n_filters": 8}
    sections["quantizer"] |= {"input_dimension": width, "output_dimension": width}
    sections["transformer"] |= {
        "d_model": width,
        "dim_feedforward": 128,
        "input_dimension": width,
        "output_dimensions": [width],
    }
    return sections


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 3), (4, 1)])
@pytest.mark.parametrize("length", [9, 4 * FEW + 20])
def test_a_convolution_as_a_product(stride, dilation, length):
    torch.manual_seed(0)
    plain = nn.Conv1d(6, 5, 3, stride=stride, dilation=dilation)
    x = torch.randn(2, 6, length)
    expected = plain(x)
    plain.__class__ = ProductConv
    assert torch.allclose(plain(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("precision", "kind", "decoder", "loss"),
    [
        (Precision.FLOAT, StreamingTransformer, SEANetDecoder, 1e-4),
        (Precision.INT8, PackedMimiTransformer, PackedSeanet, 0.03),
    ],
)
def test_a_tuned_codec_sounds_the_same(precision, kind, decoder, loss):
    codes = torch.randint(0, 2048, (2, 1, 4, 6), generator=torch.Generator().manual_seed(0))
    plain, tuned = (random_mimi(4, 0, **wide_enough()) for _ in range(2))
    tuned.tune(precision)
    assert isinstance(tuned._model.decoder_transformer.transformer, kind)
    assert isinstance(tuned._model.decoder, decoder)
    wanted, found = ([codec.open(), codec.open()] for codec in (plain, tuned))
    for sizes in ([1] * 6, [6], [1, 5]):
        for columns in zip(*(each.split(sizes, dim=2) for each in codes), strict=True):
            for which, column in enumerate(columns):
                expected = plain.decode_frame(wanted[which], column)
                got = tuned.decode_frame(found[which], column)
                assert got.shape == expected.shape
                assert float((got - expected).norm() / expected.norm()) < loss
        for codec, streams in ((plain, wanted), (tuned, found)):
            for stream in streams:
                codec.restart(stream)  # and has forgotten the last one


def test_another_decoder_is_left_alone():
    odd = SEANetDecoder(dimension=8, n_filters=2, ratios=[2], causal=True, pad_mode="replicate")
    assert not packed_seanet.packable(odd)
