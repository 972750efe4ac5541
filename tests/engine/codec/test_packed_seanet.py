"""The codec's upsampling half as one graph is what moshi computes, however columns come."""

import pytest
import torch
from moshi.modules.seanet import SEANetDecoder
from torch import Tensor

from engine.codec.mimi import random_mimi
from engine.codec.packed_seanet import PackedSeanet, packable
from engine.nn.packed.quantise import Precision
from tests.engine.tts.voxtream.small_model import narrow_sections

WIDTH = 32


def decoder(filters: int) -> SEANetDecoder:
    """Mimi's, narrow; from eight filters on some products fill whole blocks of 64."""
    sections = narrow_sections()
    sections["seanet"] |= {"n_filters": filters}
    made = random_mimi(4, 0, **sections)._model.decoder
    assert isinstance(made, SEANetDecoder)
    return made


def columns(count: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(1, WIDTH, count, generator=generator)


def streamed(module: SEANetDecoder | PackedSeanet, x: Tensor, sizes: list[int]) -> Tensor:
    with torch.inference_mode(), module.streaming(1):
        return torch.cat([module(part).clone() for part in x.split(sizes, dim=2)], dim=2)


@pytest.mark.parametrize(("filters", "loss"), [(2, 1e-4), (8, 0.02)])
@pytest.mark.parametrize("sizes", [[2, 2, 2], [1, 5], [6]])
def test_it_sounds_as_moshis(filters, loss, sizes):
    plain = decoder(filters)
    assert packable(plain)
    expected = streamed(plain, columns(6), [6])
    found = streamed(PackedSeanet(plain, Precision.INT8), columns(6), sizes)
    assert found.shape == expected.shape == (1, 1, 6 * 960)
    assert (found - expected).norm() / expected.norm() < loss


def test_a_stream_begun_anew_has_forgotten_the_last_one():
    packed = PackedSeanet(decoder(8), Precision.INT8)
    fresh = streamed(packed, columns(4), [2, 2])
    with torch.inference_mode(), packed.streaming(1):
        packed(columns(6))
        packed.reset_streaming()
        assert torch.equal(packed(columns(4)[..., :2]), fresh[..., : 2 * 960])


def test_another_decoder_is_left_alone():
    odd = SEANetDecoder(dimension=8, n_filters=2, ratios=[2], causal=True, pad_mode="replicate")
    assert not packable(odd)
