"""Layers of the codec as plain products give what they gave as convolutions."""

import pytest
import torch
from torch import nn

from engine.codec.products import FEW, ProductConv, ProductConvTranspose
from tests.engine.tts.voxtream.small_model import small_mimi


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 3), (4, 1)])
@pytest.mark.parametrize("length", [9, 4 * FEW + 20])
def test_a_convolution_as_a_product(stride, dilation, length):
    torch.manual_seed(0)
    plain = nn.Conv1d(6, 5, 3, stride=stride, dilation=dilation)
    x = torch.randn(2, 6, length)
    expected = plain(x)
    plain.__class__ = ProductConv
    assert torch.allclose(plain(x), expected, rtol=1e-4, atol=1e-5)


def test_a_tuned_codec_sounds_the_same():
    codes = torch.randint(0, 2048, (2, 1, 4, 6), generator=torch.Generator().manual_seed(0))
    plain, tuned = (small_mimi() for _ in range(2))
    tuned.tune()
    assert any(isinstance(each, ProductConvTranspose) for each in tuned._model.modules())
    wanted, found = ([codec.open(), codec.open()] for codec in (plain, tuned))
    for sizes in ([1] * 6, [6], [1, 5]):
        for columns in zip(*(each.split(sizes, dim=2) for each in codes), strict=True):
            for which, column in enumerate(columns):
                expected = plain.decode_frame(wanted[which], column)
                got = tuned.decode_frame(found[which], column)
                assert got.shape == expected.shape
                assert float((got - expected).norm() / expected.norm()) < 1e-4
        for codec, streams in ((plain, wanted), (tuned, found)):
            for stream in streams:
                codec.restart(stream)  # and has forgotten the last one
