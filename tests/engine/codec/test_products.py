"""Replaced layers compute what they replaced."""

import pytest
import torch
from torch import nn

from engine.codec.products import (
    FEW,
    PackedProjection,
    ProductConv,
    ProductConvTranspose,
    quicken,
)
from engine.nn.quantise import Precision, quantise, restore
from tests.engine.tts.voxtream.small_model import small_mimi


def test_a_quickened_codec_sounds_the_same() -> None:
    codes = torch.randint(0, 2048, (1, 4, 5), generator=torch.Generator().manual_seed(0))
    plain, quick = small_mimi(), small_mimi()
    quick.tune(4, Precision.FLOAT)
    streams = plain.open(), quick.open()
    for at in range(5):
        expected = plain.decode_frame(streams[0], codes[:, :, [at]])
        found = quick.decode_frame(streams[1], codes[:, :, [at]])
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_the_encoding_half_is_left_alone() -> None:
    pcm = torch.randn(1, 1, 1920 * 4, generator=torch.Generator().manual_seed(0)) * 0.1
    quick = small_mimi()
    quick.tune(4, Precision.INT8)
    assert torch.equal(quick.encode(pcm), small_mimi().encode(pcm))


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 3), (4, 1)])
@pytest.mark.parametrize("length", [9, 4 * FEW + 20])
def test_a_convolution_as_a_product(stride: int, dilation: int, length: int) -> None:
    torch.manual_seed(0)
    plain = nn.Conv1d(6, 5, 3, stride=stride, dilation=dilation)
    x = torch.randn(2, 6, length)
    expected = plain(x)
    plain.__class__ = ProductConv
    torch.testing.assert_close(plain(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("bias", [True, False])
def test_an_upsampling_convolution_as_a_product(length: int, bias: bool) -> None:
    torch.manual_seed(0)
    plain = nn.ConvTranspose1d(6, 5, 8, stride=4, bias=bias)
    x = torch.randn(2, 6, length)
    quick = ProductConvTranspose(plain, Precision.FLOAT)
    torch.testing.assert_close(quick(x), plain(x), rtol=1e-4, atol=1e-5)


def test_a_packed_projection_is_the_product_of_the_restored_weights() -> None:
    torch.manual_seed(0)
    plain = nn.Linear(128, 12, bias=False).requires_grad_(False)
    x = torch.randn(3, 128)
    expected = x @ restore(quantise(plain.weight, Precision.INT8)).T
    found = PackedProjection(plain, Precision.INT8)(x)
    assert float((found - expected).norm() / expected.norm()) < 0.015


def test_layers_that_do_not_fill_a_block_stay_plain() -> None:
    model = nn.Sequential(nn.Linear(30, 4, bias=False))
    quicken(model, Precision.INT8)
    assert type(model[0]) is nn.Linear
