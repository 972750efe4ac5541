"""The second network: its scale, and many steps at once."""

from dataclasses import replace

import pytest
import torch

from engine.nn.cache import KvCache
from engine.tts.smlle.spectrum import Inputs, before
from tests.engine.tts.recorder import Recorder
from tests.engine.tts.smlle import slow
from tests.engine.tts.smlle.small import GENERATION, SHAPE, small_parts, small_voice, speaking
from tests.engine.tts.utterances import say

STEPS = 9


def heard() -> Inputs:
    dice = torch.Generator().manual_seed(2)
    columns = torch.randn(1, STEPS, SHAPE.values, generator=dice)
    tokens = torch.randint(SHAPE.tokens, (1, STEPS), generator=dice)
    phones = torch.randint(SHAPE.phones, (1, STEPS), generator=dice)
    return Inputs(tokens, phones, before(columns), torch.randn(1, SHAPE.speaker_width))


def test_steps_at_once_are_those_one_by_one() -> None:
    parts, inputs = small_parts(), heard()
    net, table = parts.spectrum, parts.spectrum_rotation
    keep = net.prenet.keep_masks((1, STEPS), 0.5, torch.Generator().manual_seed(4))
    rows = net.inputs(inputs, keep)
    mask = torch.ones(STEPS, STEPS, dtype=torch.bool).tril()
    new = [KvCache(SHAPE.spectrum, 1, rows.device, rows.dtype) for _ in range(2)]
    whole = net.stack(rows, table.slice(0, STEPS), new[0], mask)
    for step in range(STEPS):
        row = net.stack(rows[:, step : step + 1], table.slice(step, step + 1), new[1])
        new[1].advance(1)
        assert torch.allclose(row[:, 0], whole[:, step], atol=1e-5)


def test_restored_is_what_was_normalised() -> None:
    net = small_parts().spectrum
    net.get_buffer("centre").fill_(-3.0)
    net.get_buffer("spread").fill_(2.0)
    mel = torch.randn(5, SHAPE.bands)
    assert torch.allclose(net.restored(net.normalised(mel)), mel, atol=1e-6)
    assert net.normalised(torch.full((1, SHAPE.bands), -1.0)).eq(1.0).all()


WORDS = ["We", "will", "meet,", "perhaps,", "at", "seven."]


@pytest.mark.parametrize("seed", [1, 5])
def test_the_session_makes_the_spectrum_of_the_slow_loop(seed: int) -> None:
    kept, voice = Recorder(), small_voice(3)
    unguarded = replace(GENERATION, most_unspoken=1000)  # the loop has no such limits
    parts = replace(small_parts(unguarded), vocoder=kept)
    say(speaking(parts, voice), [WORDS], seed=seed)
    expected = slow.log_mel(parts, voice, WORDS, seed)
    assert len(expected) > 15
    assert torch.allclose(torch.cat(kept.pieces), expected, atol=1e-4)
