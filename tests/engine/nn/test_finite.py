"""One weight that is no number is found wherever it is."""

import math

import pytest
import torch

from engine.nn.finite import not_finite


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("place", [0, 500, 999])
def test_one_element_is_enough(value: float, dtype: torch.dtype, place: int) -> None:
    weights = {"whole": torch.randn(1000, dtype=dtype), "broken": torch.randn(1000, dtype=dtype)}
    weights["broken"][place] = value
    assert not_finite(weights.items()) == "broken"


def test_what_is_no_float_or_empty_is_passed_over() -> None:
    weights = {"count": torch.tensor(7), "empty": torch.zeros(0), "lone": torch.tensor(1.5)}
    assert not_finite(weights.items()) == ""
