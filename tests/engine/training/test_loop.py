"""A recipe asks for bfloat16, whether a machine multiplies in it is the machine's matter; lessons
of one length fill a batch; a training ends with its steps or with its seconds.
"""

import random
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from engine.errors import InvalidInput, ModelError
from engine.nn.optimiser import AdamW
from engine.nn.transformer import Heads
from engine.training.loop import (
    Learner,
    Losses,
    in_bf16,
    learning_rate,
    length_bucket,
    optimiser_step,
    train,
)
from engine.training.networks import guide_loss, spoken_units
from engine.training.recipe import Schedule
from engine.training.run import Run, read_json

CPU = torch.device("cpu")
TIMED = Schedule(steps=1000, batch=1, learning_rate=0.1, seconds=20.0, checkpoint_every=2)


class Walker(Learner):
    """One number that learns to be 1; it notes the share of the schedule at every step."""

    averaged = "walker"

    def __init__(
        self, schedule: Schedule, shares: list[float], target: float = 1.0, stop_after: int = 0
    ) -> None:
        super().__init__(Run(None, Path()), schedule, walker=nn.Linear(1, 1, bias=False))
        self._shares, self._target, self._stop_after = shares, target, stop_after

    def learn(self, share: float, draw: random.Random) -> Losses:
        if self._stop_after == len(self._shares) > 0:
            raise KeyboardInterrupt
        self._shares.append(share)
        missed = self.parts["walker"](torch.ones(1)) - self._target
        return self._optimise({"missed": missed.square().sum()})

    def validate(self) -> dict[str, float]:
        return {"forgotten": abs(len(self._shares) - 4.0)}


@pytest.fixture
def clock(monkeypatch) -> None:
    """Every look at the time takes a second."""
    ticks = count()
    monkeypatch.setattr("engine.training.loop.time.monotonic", lambda: float(next(ticks)))


@pytest.mark.parametrize(
    ("asked", "abilities", "dtype"),
    [
        (True, {"avx512_bf16": True}, torch.bfloat16),
        (True, {"avx512_bf16": False, "amx_bf16": True}, torch.bfloat16),
        (True, {"avx512_bf16": False, "avx512_fp16": True}, torch.float32),
        (False, {"avx512_bf16": True}, torch.float32),
    ],
)
def test_a_processor_multiplies_in_bf16_only_where_it_has_the_instructions(
    monkeypatch, asked, abilities, dtype
):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: abilities, raising=False)
    with in_bf16(CPU, asked=asked):
        assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype is dtype


def lessons(*steps: int) -> list[Any]:
    return [SimpleNamespace(steps=each) for each in steps]


def test_lessons_of_a_batch_are_about_as_long_and_all_come_equally_often():
    draw, seen, every = random.Random(1), list[int](), lessons(*range(80))
    for _ in range(400):
        lengths = [each.steps for each in length_bucket(every, draw, 8)]
        assert len(lengths) == 8
        assert max(lengths) - min(lengths) < 60
        seen += lengths
    assert np.histogram(seen, 4, (0, 80))[0] / len(seen) == pytest.approx(0.25, abs=0.04)
    (only,) = lessons(4)
    assert length_bucket([only], draw, 3) == [only] * 3
    assert {each.steps for each in length_bucket(every, draw, 40, 9)} <= set(range(10))
    assert [each.steps for each in length_bucket(lessons(5, 3, 4), draw, 2, 2)] == [3, 3]


@pytest.mark.usefixtures("clock")
def test_a_training_of_seconds_ends_with_them_and_goes_on_from_its_checkpoint(tiny, tmp_path):
    run, shares = Run(tiny, tmp_path), list[float]()
    with pytest.raises(KeyboardInterrupt):
        train(run, "walker", Walker(TIMED, shares, stop_after=5), "")
    saved = shares[3]  # before the last step that is in the checkpoint
    assert 0 < saved < 0.7
    train(run, "walker", Walker(TIMED, shares), "")
    assert shares[5] > saved
    assert 0.8 < shares[-1] < 1
    assert len(shares) < 25


@pytest.mark.parametrize("best", ["", "forgotten"])
def test_the_weights_are_the_last_or_the_best_ones(tiny, tmp_path, best):
    schedule = Schedule(
        steps=8, batch=1, learning_rate=0.1, warmup=1, average=0.0, validate_every=1, best=best
    )
    walker = Walker(schedule, [])
    mean = train(Run(tiny, tmp_path), "walker", walker, "")
    is_last = torch.equal(mean["weight"], walker.parts["walker"].state_dict()["weight"])
    assert is_last == (not best)


class Judge(Walker):
    """Its loss on other data is the distance of its weight from 1."""

    def validate(self) -> dict[str, float]:
        return {"missed": abs(float(self.parts["walker"].weight.detach()) - 1.0)}


def test_the_weights_that_are_saved_are_the_ones_that_were_validated(tiny, tmp_path):
    schedule = Schedule(
        steps=8, batch=1, learning_rate=0.3, warmup=1, average=0.9, validate_every=1, best="missed"
    )
    run = Run(tiny, tmp_path)
    mean = train(run, "walker", Judge(schedule, []), "")
    files = sorted(run.stage("walker").glob("validation-*.json"))
    least = min(read_json(file)["missed"] for file in files)
    assert abs(float(mean["weight"]) - 1.0) == pytest.approx(least, abs=1e-6)


def test_a_checkpoint_of_another_recipe_is_refused_and_kept(tiny, tmp_path):
    run, shares = Run(tiny, tmp_path), list[float]()
    schedule = Schedule(steps=8, batch=1, learning_rate=0.1, checkpoint_every=1)
    with pytest.raises(KeyboardInterrupt):
        train(run, "walker", Walker(schedule, shares, stop_after=5), "one corpus")
    with pytest.raises(InvalidInput, match="another recipe or corpus"):
        train(run, "walker", Walker(schedule, shares), "another corpus")
    train(run, "walker", Walker(schedule, shares), "one corpus")
    assert len(shares) == 8


def test_losses_that_are_no_numbers_end_a_training(tiny, tmp_path):
    schedule = Schedule(steps=3, batch=1, learning_rate=0.1)
    with pytest.raises(ModelError, match="diverged"):
        train(Run(tiny, tmp_path), "walker", Walker(schedule, [], float("nan")), "")


def test_gradients_that_are_no_numbers_change_nothing():
    layer = nn.Linear(1, 1, bias=False)
    before = layer.weight.detach().clone()
    adam = AdamW(layer.parameters(), 0.1)
    optimiser_step(layer(torch.full((1,), float("inf"))).sum(), adam, 1.0)
    assert torch.equal(layer.weight, before)
    optimiser_step(layer(torch.ones(1)).sum(), adam, 1.0)
    assert not torch.equal(layer.weight, before)


def test_the_learning_rate_warms_up_holds_and_falls():
    schedule = Schedule(steps=1000, batch=1, learning_rate=1.0, warmup=100)
    rates = [learning_rate(schedule, step, step / 1000) for step in range(1000)]
    assert rates[0] == 0.01
    assert rates[200] == 1.0
    assert rates[299:] == sorted(rates[299:], reverse=True)
    assert abs(rates[-1] - schedule.last_rate) < 1e-3


# ------------------------------------------------------------------- where attention is to lie


GUIDE = torch.tensor([[-1, 0, 0, 2, 4, 4]])  # the fourth position's place has only just been read


def test_a_word_gives_its_positions_the_places_of_its_units_in_turn():
    assert spoken_units(7, 2, [3, 6], 8) == [7, 7, 7, 8, 8]
    assert spoken_units(7, 3, [3, 4, 4], 5) == [7, 9]  # the second is too short for a position
    assert spoken_units(7, 3, [3, 5], 8) == [7, 7, 8, 8, 8]  # a mark follows the phones
    assert spoken_units(7, 5, [0], 2) == [7, 7]


def test_a_head_that_looks_where_it_is_to_has_the_least_loss():
    """Beside its unit, too, as far as that was read."""
    places = [[], [0, 1], [0, 1], [1, 2, 3], [3, 4], [3, 4, 5]]
    keys, queries = torch.zeros(1, 1, 6, 8), torch.zeros(1, 2, 6, 8)
    keys[0, 0, :, :6] = torch.eye(6)
    for position, units in enumerate(places):
        queries[0, 0, position, units] = 30.0
    assert float(guide_loss(Heads(queries, keys, keys), GUIDE)) < 0.1
    astray = float(guide_loss(Heads(queries.flip(1), keys, keys), GUIDE))
    assert astray > 0.1
    queries[0, 0, 3] = 0.0
    assert 0.05 < float(guide_loss(Heads(queries, keys, keys), GUIDE)) < astray
