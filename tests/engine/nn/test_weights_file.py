"""Networks made without drawing their weights."""

import torch

from engine.nn.weights_file import Unset


def test_nothing_is_drawn_inside_and_again_outside() -> None:
    state = torch.get_rng_state()
    with Unset():
        torch.nn.Linear(3, 5)
        torch.nn.Conv1d(3, 5, 2)
    assert torch.equal(torch.get_rng_state(), state)
    torch.nn.Linear(3, 5)
    assert not torch.equal(torch.get_rng_state(), state)


def test_what_is_computed_inside_stays_as_it_is() -> None:
    with Unset():
        assert torch.arange(3).cumsum(0).tolist() == [0, 1, 3]
