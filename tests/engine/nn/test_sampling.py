"""Draws follow their distributions and nothing but the noise they are given."""

import torch

from engine.nn.sampling import draw_nucleus, draw_top, guide, race_noise


def test_the_same_seed_draws_the_same() -> None:
    first, second = (race_noise(6, torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(first, second)


def test_nucleus_drops_what_lies_behind_the_mass() -> None:
    probabilities = torch.tensor([[0.05, 0.5, 0.41, 0.04]])
    generator = torch.Generator().manual_seed(0)
    drawn = {int(draw_nucleus(probabilities, 0.9, race_noise(4, generator))) for _ in range(500)}
    assert drawn == {1, 2}


def test_nucleus_keeps_the_entry_that_crosses_the_mass() -> None:
    probabilities = torch.tensor([[0.6, 0.25, 0.15]])
    generator = torch.Generator().manual_seed(0)
    drawn = [int(draw_nucleus(probabilities, 0.84, race_noise(3, generator))) for _ in range(2000)]
    assert set(drawn) == {0, 1}
    assert abs(drawn.count(0) / 2000 - 0.6 / 0.85) < 0.04


def test_top_draws_only_the_likeliest_in_their_proportion() -> None:
    probabilities = torch.tensor([[0.1, 0.4, 0.3, 0.2]])
    generator = torch.Generator().manual_seed(1)
    drawn = [int(draw_top(probabilities, 2, race_noise(2, generator))) for _ in range(2000)]
    assert set(drawn) == {1, 2}
    assert abs(drawn.count(1) / 2000 - 4 / 7) < 0.04


def test_guidance_of_one_is_the_conditional_row() -> None:
    conditional, unconditional = torch.tensor([1.0, 2.0]), torch.tensor([5.0, 0.0])
    assert torch.equal(guide(conditional, unconditional, 1.0), conditional)
    assert torch.equal(guide(conditional, unconditional, 1.5), torch.tensor([-1.0, 3.0]))
