"""Replaced layers compute what they replaced."""

from typing import Any

import pytest
import torch
from moshi.modules.transformer import StreamingTransformer
from torch import nn

from engine.codec.mimi import random_mimi
from engine.codec.packed_transformer import PackedMimiTransformer
from engine.codec.products import FEW, ProductConv
from engine.nn.packed.quantise import Precision
from tests.engine.tts.voxtream.small_model import narrow_sections


def wide_enough() -> dict[str, Any]:
    """The narrow codec with a transformer whose widths fill blocks."""
    sections, width = narrow_sections(), 64
    sections["seanet"] |= {"dimension": width}
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
    ("precision", "kind", "loss"),
    [(Precision.FLOAT, StreamingTransformer, 1e-4), (Precision.INT8, PackedMimiTransformer, 0.03)],
)
def test_a_tuned_codec_sounds_the_same(precision, kind, loss):
    codes = torch.randint(0, 2048, (2, 1, 4, 6), generator=torch.Generator().manual_seed(0))
    plain, tuned = (random_mimi(4, 0, **wide_enough()) for _ in range(2))
    tuned.tune(precision)
    assert isinstance(tuned._model.decoder_transformer.transformer, kind)
    expected = [plain.open(), plain.open()]
    found = [tuned.open(), tuned.open()]
    for at in range(6):
        for which in range(2):
            column = codes[which, :, :, [at]]
            wanted = plain.decode_frame(expected[which], column)
            got = tuned.decode_frame(found[which], column)
            assert float((got - wanted).norm() / wanted.norm()) < loss
