"""Target histograms between the released ones, and the pull towards them."""

import math

import pytest

from engine.tts.voxtream.rate import RATE_TABLE, DurationState, rate_target


@pytest.mark.parametrize(
    ("rate", "row"),
    [*((rate, rate) for rate in RATE_TABLE), (0.1, 1.0), (-3.0, 1.0), (7.01, 7.0), (99.0, 7.0)],
)
def test_a_released_rate_has_its_target_and_beyond_hold_the_ends(rate: float, row: float) -> None:
    assert rate_target(rate) == RATE_TABLE[row]


def test_between_two_rates_shape_size_weight_and_guidance_are_blended() -> None:
    # half of 24/54 and 40/119, times half of 54 + 119, and so on
    target = rate_target(3.5)
    assert target.counts == (34, 40, 3, 7, 1, 2)
    assert (target.weight, target.guidance) == (5.0, 1.5)
    assert rate_target(4.5).weight == 6.0


def test_no_bin_of_any_rate_is_empty() -> None:
    assert all(min(rate_target(rate / 50).counts) >= 1 for rate in range(30, 400))


def test_the_state_is_one_plus_the_histogram_of_the_window() -> None:
    state = DurationState(6, 4)
    state.expect(rate_target(3.0))  # nothing, of an utterance that has not begun
    assert state.counts == (1, 1, 1, 1, 1, 1)
    for token in (0, 0, 1, 5, 5, 5):
        state.observe(token)
    assert state.counts == (1, 2, 1, 1, 1, 4)


def test_the_pull_is_zero_where_speech_has_what_the_rate_wants() -> None:
    state = DurationState(6, 1000)
    target = RATE_TABLE[4.0]
    for token, count in enumerate(target.counts):
        for _ in range(count - 1):
            state.observe(token)
    assert all(math.isclose(pull, 0, abs_tol=1e-12) for pull in state.pull(target))


def test_a_new_rate_does_not_make_up_for_the_one_before() -> None:
    fast, slow = rate_target(6.0), rate_target(2.0)
    state = DurationState(6, 38)
    for frame in range(60):
        state.observe(2 if frame % 3 else 4)
    overdone = state.pull(slow)
    state.expect(slow)
    assert sum(state.counts) == 38 + 6
    # of the two tokens that slow speech consists of
    assert max(map(abs, overdone[:2])) > 4
    assert max(map(abs, state.pull(slow)[:2])) < 0.2
    assert state.pull(fast) != state.pull(slow)
    for _ in range(38):  # what was expected leaves the window like what was spoken
        state.observe(2)
    assert state.counts == (1, 1, 39, 1, 1, 1)
