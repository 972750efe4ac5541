"""The pre-net: what it drops, and that nothing else changes what comes out."""

import pytest
import torch
from torch import nn

from engine.nn.prenet import Prenet


@pytest.fixture
def prenet() -> Prenet:
    torch.manual_seed(1)
    made = Prenet(5, 400, 3)
    for weight in made.parameters():
        nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
    return made


def test_values_pass_through_both_narrow_layers(prenet: Prenet) -> None:
    x = torch.randn(2, 7, 5)
    first, second, last = (weight.t() for weight in prenet.parameters())
    keep = prenet.keep_masks((2, 7), 0.5, torch.Generator().manual_seed(3))
    expected = ((x @ first).relu() * keep[0] @ second).relu() * keep[1] @ last
    assert torch.allclose(prenet(x, keep), expected, atol=1e-5)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
def test_the_share_is_dropped_and_the_rest_keeps_the_sum(prenet: Prenet, share: float) -> None:
    keep = prenet.keep_masks((50,), share, torch.Generator().manual_seed(3))
    assert keep.shape == (2, 50, 400)
    assert abs(float((keep == 0).float().mean()) - share) < 0.02
    assert abs(float(keep.mean()) - 1) < 0.03
