"""Windows of a decoder that is not causal, joined."""

import pytest
import torch
from torch import Tensor

from engine.codec.wavtokenizer import (
    AHEAD,
    AHEAD_MS,
    BEHIND,
    FADE,
    HOP,
    WavTokenizerConfig,
    WavTokenizerDecoder,
    WindowStream,
)

ENTRY = 8


@pytest.fixture(scope="module")
def decoder() -> WavTokenizerDecoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        made = WavTokenizerDecoder(WavTokenizerConfig(ENTRY, width=64, blocks=1))
    return made.eval().requires_grad_(requires_grad=False)


def vectors(count: int) -> Tensor:
    return torch.randn(count, ENTRY, generator=torch.Generator().manual_seed(2))


def heard(decoder: WavTokenizerDecoder, sizes: tuple[int, ...]) -> list[Tensor]:
    stream = WindowStream(decoder)
    pieces = vectors(sum(sizes)).split(sizes)
    return [*(stream.decode(piece).clone() for piece in pieces), stream.end()]


def test_samples_come_as_late_as_is_said(decoder):
    for sizes, lengths in (((10, 7), [10 - AHEAD, 7]), ((AHEAD, 1), [0, 1])):
        *given, rest = heard(decoder, sizes)
        assert [len(piece) for piece in given] == [HOP * length for length in lengths]
        assert len(rest) > AHEAD * HOP
    assert pytest.approx(AHEAD * HOP / 24, abs=0.5) == AHEAD_MS


def test_a_window_hears_what_is_behind_and_ahead_and_no_more(decoder):
    lengths: list[int] = []

    def counted(columns: Tensor) -> Tensor:
        lengths.append(len(columns))
        return decoder(columns)

    stream = WindowStream(counted)  # type: ignore[arg-type]
    for piece in vectors(200).split(40):
        stream.decode(piece)
    assert lengths == [40, 80, *[BEHIND + 40 + AHEAD] * 3]


def test_a_window_is_faded_into_the_next_without_a_step(decoder):
    """At the joint both windows are heard: first the old one alone, then the new one alone."""
    first, second, _ = heard(decoder, (20, 20))
    old, new, at = decoder(vectors(20)), decoder(vectors(40)), (20 - AHEAD) * HOP
    assert torch.allclose(first[FADE:], old[FADE:at])
    assert torch.allclose(second[0], old[at])
    assert torch.allclose(second[FADE:], new[at + FADE : at + 20 * HOP])
    both = torch.stack((old[at : at + FADE], new[at : at + FADE]))
    assert (second[:FADE] >= both.amin(0) - 1e-6).all()
    assert (second[:FADE] <= both.amax(0) + 1e-6).all()


def test_a_sentence_begins_and_ends_in_silence_each_time(decoder):
    stream = WindowStream(decoder)
    said = [torch.cat((stream.decode(vectors(30)).clone(), stream.end())) for _ in range(2)]
    assert torch.equal(*said)
    assert said[0][0] == 0
    assert not said[0][-240:].any()
