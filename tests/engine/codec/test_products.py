"""Replaced layers compute what they replaced, and a tuned codec what moshi does."""

from typing import Any

import pytest
import torch
from moshi.modules.seanet import SEANetDecoder
from moshi.modules.transformer import StreamingTransformer
from torch import nn

from engine.codec.mimi import random_mimi
from engine.codec.packed_seanet import PackedSeanet, packable
from engine.codec.packed_transformer import PackedMimiTransformer
from engine.codec.products import FEW, ProductConv
from engine.nn.packed.quantise import Precision
from tests.engine.tts.voxtream.small_model import narrow_sections


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
    assert not packable(odd)
