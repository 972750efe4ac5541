"""The transducer's loss against a sum over all alignments written out one by one."""

from itertools import combinations_with_replacement

import pytest
import torch
from torch import Tensor

from engine.training.smlle.lattice import Band, band, transducer_loss

CASES = [(tokens, units) for tokens in range(5) for units in range(1, 5)]


def brute_force(blank: Tensor, emit: Tensor, within: Band, lesson: int) -> float:
    """`blank` and `emit` [B, T + 1, U] of all nodes: every non-falling list of units, one a token,
    is a path; those that leave the band do not count.
    """
    units, tokens = int(within.units[lesson]), int(within.tokens[lesson])
    paths = []
    for spoken_by in combinations_with_replacement(range(units), tokens):
        score, unit, inside = 0.0, 0, True
        for row, target in enumerate((*spoken_by, units)):
            low, high = int(within.first[lesson, row]), int(within.last[lesson, row])
            inside &= low <= unit and min(target, units - 1) <= high
            score += float(blank[lesson, row, unit:target].sum())
            unit = target
            if row < tokens:
                score += float(emit[lesson, row, target])
        if inside:
            paths.append(score)
    return -float(torch.tensor(paths, dtype=torch.float64).logsumexp(0))


def random_lattice(tokens: int, units: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Log-probabilities [2, T + 1, U] of blanks and of the true tokens."""
    dice = torch.Generator().manual_seed(seed)
    shape = (2, tokens + 1, units, 3)
    logits = 2 * torch.randn(shape, dtype=torch.float64, generator=dice)
    blank, emit, _ = logits.log_softmax(-1).unbind(-1)
    return blank, emit


def alignment(tokens: int, units: int) -> Tensor:
    """Two alignments [2, T]: even, and all tokens late."""
    even = torch.arange(tokens) * units // max(1, tokens)
    late = torch.full((tokens,), units - 1)
    return torch.stack((even, late))


def even_band(tokens: int, units: int, reach: int) -> Band:
    """Of both alignments."""
    count = torch.full((2,), units), torch.full((2,), tokens)
    return band(alignment(tokens, units), *count, reach)


def loss_of(blank: Tensor, emit: Tensor, within: Band) -> Tensor:
    return transducer_loss(*(each.gather(2, within.nodes) for each in (blank, emit)), within)


@pytest.mark.parametrize("reach", [0, 1, 9])
@pytest.mark.parametrize(("tokens", "units"), CASES)
def test_the_loss_is_the_sum_over_all_alignments(tokens, units, reach):
    blank, emit = random_lattice(tokens, units)
    within = even_band(tokens, units, reach)
    assert reach < 9 or [int(within.first.max()), int(within.last.min())] == [0, units - 1]
    for lesson, loss in enumerate(loss_of(blank, emit, within).tolist()):
        assert loss == pytest.approx(brute_force(blank, emit, within, lesson), abs=1e-9)


def test_a_lesson_among_longer_ones_has_the_loss_it_has_alone():
    blank, emit = random_lattice(4, 4)
    places = torch.tensor([[0, 1, 1, 3], [0, 1, 0, 0]])
    units, tokens = torch.tensor([4, 2]), torch.tensor([4, 2])
    both = loss_of(blank, emit, band(places, units, tokens, reach=1))
    alone = band(places[1:, :2], units[1:], tokens[1:], reach=1)
    lone = loss_of(blank[1:, :3, :2], emit[1:, :3, :2], alone)
    assert both[1].item() == pytest.approx(lone.item(), abs=1e-9)


@pytest.mark.parametrize("reach", [0, 1, 9])
def test_the_gradient_is_that_of_differences(reach):
    within, little = even_band(3, 4, reach), 1e-6
    at = torch.stack(random_lattice(3, 4)).requires_grad_()
    loss_of(*at, within).sum().backward()
    for way in torch.eye(at.numel(), dtype=at.dtype).view(-1, *at.shape):
        before, behind = (
            loss_of(*at.detach() + step * way, within).sum() for step in (-little, little)
        )
        slope = float(behind - before) / (2 * little)
        assert float((at.grad * way).sum()) == pytest.approx(slope, abs=1e-7)


def test_lattices_of_wild_numbers_have_gradients_that_are_numbers():
    dice = torch.Generator().manual_seed(3)
    logits = (30 * torch.randn(2, 81, 24, 2, generator=dice)).requires_grad_()
    blank, emit = logits.log_softmax(-1).unbind(-1)
    loss = loss_of(blank, emit, even_band(80, 24, reach=4))
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert torch.isfinite(logits.grad).all()
