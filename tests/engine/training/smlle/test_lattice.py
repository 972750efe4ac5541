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


def of_band(values: Tensor, within: Band) -> Tensor:
    return values.gather(2, within.nodes)


def counted(units: int, tokens: int) -> tuple[Tensor, Tensor]:
    return torch.full((2,), units), torch.full((2,), tokens)


@pytest.mark.parametrize("reach", [0, 1, 9])
@pytest.mark.parametrize(("tokens", "units"), CASES)
def test_the_loss_is_the_sum_over_all_alignments_in_the_band(
    tokens: int, units: int, reach: int
) -> None:
    blank, emit = random_lattice(tokens, units)
    within = band(alignment(tokens, units), *counted(units, tokens), reach)
    losses = transducer_loss(of_band(blank, within), of_band(emit, within), within)
    for lesson, loss in enumerate(losses.tolist()):
        assert loss == pytest.approx(brute_force(blank, emit, within, lesson), abs=1e-9)


def test_a_band_wide_enough_keeps_every_node() -> None:
    within = band(alignment(4, 3), *counted(3, 4), reach=3)
    assert (within.first == 0).all()
    assert (within.last == 2).all()


def test_without_reach_the_loss_is_the_cross_entropy_of_the_alignment() -> None:
    blank, emit = random_lattice(3, 4)
    places = torch.tensor([[0, 2, 2]] * 2)
    within = band(places, *counted(4, 3), reach=0)
    losses = transducer_loss(of_band(blank, within), of_band(emit, within), within)
    path = emit[0, 0, 0] + blank[0, 1, 0] + blank[0, 1, 1] + emit[0, 1, 2] + emit[0, 2, 2]
    path = path + blank[0, 3, 2] + blank[0, 3, 3]
    assert losses[0].item() == pytest.approx(-path.item(), abs=1e-9)


def test_a_lesson_among_longer_ones_has_the_loss_it_has_alone() -> None:
    blank, emit = random_lattice(4, 4)
    places = torch.tensor([[0, 1, 1, 3], [0, 1, 0, 0]])
    units, tokens = torch.tensor([4, 2]), torch.tensor([4, 2])
    within = band(places, units, tokens, reach=1)
    losses = transducer_loss(of_band(blank, within), of_band(emit, within), within)
    alone = band(places[1:, :2], units[1:], tokens[1:], reach=1)
    short = [values[1:, :3, :2] for values in (blank, emit)]
    lone = transducer_loss(*(of_band(values, alone) for values in short), alone)
    assert losses[1].item() == pytest.approx(lone.item(), abs=1e-9)


@pytest.mark.parametrize("reach", [0, 1, 9])
def test_the_gradient_is_that_of_differences(reach: int) -> None:
    blank, emit = random_lattice(3, 4)
    within = band(alignment(3, 4), *counted(4, 3), reach)

    def loss(blank: Tensor, emit: Tensor) -> Tensor:
        return transducer_loss(of_band(blank, within), of_band(emit, within), within)

    inputs = (blank.requires_grad_(), emit.requires_grad_())
    assert torch.autograd.gradcheck(loss, inputs)


def test_long_lattices_of_wild_numbers_have_gradients_that_are_numbers() -> None:
    dice = torch.Generator().manual_seed(3)
    logits = (30 * torch.randn(2, 201, 60, 2, generator=dice)).requires_grad_()
    blank, emit = logits.log_softmax(-1).unbind(-1)
    within = band(alignment(200, 60), torch.tensor([60, 60]), torch.tensor([200, 200]), reach=4)
    loss = transducer_loss(of_band(blank, within), of_band(emit, within), within)
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert torch.isfinite(logits.grad).all()
