"""Networks are made without drawing their weights, and one weight that is no number is found."""

import math

import pytest
import torch

from engine.nn.weights_file import Unset, not_finite


def test_nothing_is_drawn_inside_and_again_outside() -> None:
    state = torch.get_rng_state()
    with Unset():
        torch.nn.Linear(3, 5)
        torch.nn.Conv1d(3, 5, 2)
        assert torch.arange(3).cumsum(0).tolist() == [0, 1, 3]  # what is computed stays
    assert torch.equal(torch.get_rng_state(), state)
    torch.nn.Linear(3, 5)
    assert not torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("place", [0, 500, 999])
def test_one_element_is_enough(value: float, dtype: torch.dtype, place: int) -> None:
    weights = {"count": torch.tensor(7), "empty": torch.zeros(0), "lone": torch.tensor(1.5)}
    weights |= {name: torch.randn(1000, dtype=dtype) for name in ("whole", "broken")}
    assert not_finite(weights.items()) == ""
    weights["broken"][place] = value
    assert not_finite(weights.items()) == "broken"
