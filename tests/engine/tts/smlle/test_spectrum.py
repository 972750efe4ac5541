"""The second network: its scale, and many steps at once."""

import torch

from engine.nn.cache import KvCache
from engine.tts.smlle.spectrum import Inputs, before
from tests.engine.tts.smlle.small import SHAPE, small_parts

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
