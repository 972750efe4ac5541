"""A decoder that is told the phones of each frame."""

from dataclasses import replace

import pytest
import torch

from engine.codec.mimi import NOTHING, Mimi
from engine.codec.small import Decoder, SmallCodecConfig, build
from engine.codec.text_aware import TextAwareMimi

SHAPE = SmallCodecConfig(
    Decoder.ISTFT, codebooks=3, codes=16, width=32, blocks=1, layers=1, phones=9
)
CODES = torch.randint(0, 16, (1, 3, 6), generator=torch.Generator().manual_seed(3))
PHONES = torch.tensor([[[NOTHING, 0, 3, 3, 8, 8], [NOTHING, 3, 3, 4, 8, 8]]])


@pytest.fixture
def model() -> TextAwareMimi:
    """One that has learnt what the phones are."""
    torch.manual_seed(1)
    fresh: TextAwareMimi = build(SHAPE)
    for name, buffer in fresh.named_buffers():
        if name.endswith("embedding_sum"):
            buffer.normal_()
    fresh.phones.weight.data[1:].normal_()
    return fresh.eval().requires_grad_(False)


def decoded(codec: Mimi, phones: torch.Tensor | None) -> torch.Tensor:
    return codec.decode_frame(codec.open(), CODES, phones)


def test_what_it_is_told_is_heard_from_that_frame_on(model):
    codec = Mimi(model, 3)
    other = PHONES.clone()
    other[0, 1, 3] = 5
    one, two = decoded(codec, PHONES), decoded(codec, other)
    assert torch.equal(one[..., : 3 * 1920], two[..., : 3 * 1920])
    assert not torch.allclose(one[..., 3 * 1920 :], two[..., 3 * 1920 :])
    stream = codec.open()
    parts = [codec.decode_frame(stream, CODES[:, :, [n]], PHONES[:, :, [n]]) for n in range(6)]
    assert torch.allclose(torch.cat(parts, dim=-1), one, atol=1e-5)


def test_told_nothing_it_hears_the_codes_alone_as_others_do(model):
    codec = Mimi(model, 3)
    untold = decoded(codec, torch.full_like(PHONES, NOTHING))
    assert torch.equal(decoded(codec, None), untold)
    model.phones.weight.data.zero_()
    assert torch.equal(decoded(codec, PHONES), untold)
    for shape in (SHAPE, replace(SHAPE, phones=0)):
        deaf = Mimi(build(shape).eval(), 3)
        assert torch.equal(decoded(deaf, PHONES), decoded(deaf, None))
