"""Draws follow their distributions and nothing but the noise they are given."""

from typing import Any

import pytest
import torch

from engine.nn.sampling import draw_nucleus, draw_top, guide, race_noise


@pytest.mark.parametrize(
    ("draw", "mass", "probabilities", "drawn", "share"),
    [
        (draw_nucleus, 0.9, [0.05, 0.5, 0.41, 0.04], {1, 2}, 0.5 / 0.91),
        (draw_nucleus, 0.84, [0.25, 0.6, 0.15], {0, 1}, 0.6 / 0.85),  # the one that crosses it too
        (draw_top, 2, [0.1, 0.4, 0.3, 0.2], {1, 2}, 4 / 7),
    ],
)
def test_only_the_likeliest_are_drawn_in_their_proportion(
    draw: Any, mass: float, probabilities: list[float], drawn: set[int], share: float
) -> None:
    """`share`: of the second one."""
    table, generator = torch.tensor([probabilities]), torch.Generator().manual_seed(1)
    count = 2 if draw is draw_top else len(probabilities)
    found = [int(draw(table, mass, race_noise(count, generator))) for _ in range(2000)]
    assert set(found) == drawn
    assert abs(found.count(1) / 2000 - share) < 0.04


def test_guidance_of_one_is_the_conditional_row() -> None:
    conditional, unconditional = torch.tensor([1.0, 2.0]), torch.tensor([5.0, 0.0])
    assert torch.equal(guide(conditional, unconditional, 1.0), conditional)
    assert torch.equal(guide(conditional, unconditional, 1.5), torch.tensor([-1.0, 3.0]))
