"""A delay that creeps is followed until nothing is left to correct, and never in leaps."""

import numpy as np
import pytest

from engine.audio.echo.delay import DriftTracker

STEP_S = 0.01
ANSWER_STEPS = 26


def followed(drift: float, seconds: float, noise: float = 0.0) -> list[float]:
    """The error left at every step, for a delay that creeps by `drift` samples a second; answers
    are off by `noise` samples.
    """
    tracker, rng = DriftTracker(STEP_S), np.random.default_rng(1)
    delay, held, errors = 0.0, 0.0, []
    for step in range(round(seconds / STEP_S)):
        if step % ANSWER_STEPS == 0:
            tracker.correct(delay - held + noise * rng.standard_normal())
        held += tracker.step()
        delay += drift * STEP_S
        errors.append(delay - held)
    return errors


@pytest.mark.parametrize("drift", [1.6, -1.6, 0.3])
def test_clocks_that_run_apart_are_learnt(drift: float) -> None:
    errors = followed(drift, 120.0)
    assert max(map(abs, errors)) < 8.0
    assert max(map(abs, errors[-3000:])) < 0.3


def test_one_wrong_answer_is_no_leap() -> None:
    tracker = DriftTracker(STEP_S)
    tracker.correct(10_000.0)
    steps = [tracker.step() for _ in range(1000)]
    assert max(steps) < 0.03
    assert sum(steps) < 1.0


def test_when_nothing_more_is_answered_the_clocks_still_run_apart() -> None:
    tracker, held, delay = DriftTracker(STEP_S), 0.0, 0.0
    for step in range(12_000):
        if step % ANSWER_STEPS == 0 and step < 9_000:
            tracker.correct(delay - held)
        held += tracker.step()
        delay += 1.6 * STEP_S
    assert abs(delay - held) < 1.0
