"""A delay that creeps is followed until nothing is left to correct, and never in leaps."""

import pytest

from engine.audio.echo.delay import DriftTracker

STEP_S = 0.01
ANSWER_STEPS = 26


@pytest.mark.parametrize("drift", [1.6, -1.6, 0.3])
def test_clocks_that_run_apart_are_learnt_and_when_nothing_more_is_answered_still_do(
    drift: float,
) -> None:
    """The delay creeps by `drift` samples a second."""
    tracker, delay, held, errors = DriftTracker(STEP_S), 0.0, 0.0, []
    for step in range(15_000):
        if step % ANSWER_STEPS == 0 and step < 12_000:
            tracker.correct(delay - held)
        held += tracker.step()
        delay += drift * STEP_S
        errors.append(abs(delay - held))
    assert max(errors[:12_000]) < 8.0
    assert max(errors[9_000:12_000]) < 0.3
    assert errors[-1] < 1.0


def test_one_wrong_answer_is_no_leap() -> None:
    tracker = DriftTracker(STEP_S)
    tracker.correct(10_000.0)
    steps = [tracker.step() for _ in range(1000)]
    assert max(steps) < 0.03
    assert sum(steps) < 1.0
