"""Spectra at another tempo."""

import pytest
import torch

from engine.tts.speakstream.tempo import FASTEST, LEAST, MOST, SLOWEST, Tempo, step_for

COLUMNS = torch.randn(200, 3, generator=torch.Generator().manual_seed(1))


def pushed(step: float, sizes: int) -> torch.Tensor:
    tempo = Tempo()
    return torch.stack(
        [given for piece in COLUMNS.split(sizes) for given in tempo.push(piece, step)]
    )


@pytest.mark.parametrize("step", [0.5, 0.8, 1.0, 1.3, 1.8])
def test_as_many_columns_come_out_as_the_step_says_however_they_came(step):
    made = pushed(step, 2)
    assert len(made) == pytest.approx(len(COLUMNS) / step, abs=1.5)
    assert torch.equal(made, pushed(step, 7))
    assert step != 1.0 or torch.equal(made, COLUMNS)
    line = torch.cat([*Tempo().push(torch.arange(20.0)[:, None], step)])  # what lies between
    assert torch.allclose(line.diff()[2:], torch.tensor(step))


def test_a_rate_is_reached_by_what_was_measured_within_bounds():
    assert step_for(4.0, 4.0, None) == 1.0
    assert step_for(4.0, 4.0, 4.4) == pytest.approx(4.0 / 4.4)
    assert step_for(4.0, 4.0, 40.0) == LEAST
    assert step_for(4.0, 4.0, 0.4) == MOST
    assert step_for(40.0, 4.0, 4.0) == FASTEST
    assert step_for(0.4, 4.0, 4.0) == SLOWEST
