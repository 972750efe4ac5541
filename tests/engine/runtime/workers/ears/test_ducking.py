"""A trace of somebody makes the reply quieter at once, and for a moment only."""

from engine.asr.base import SAMPLE_RATE
from engine.runtime.workers.ears.ducking import HOLD_S, Ducking

HOLD = int(HOLD_S * SAMPLE_RATE)


def asked_of(looks: list[tuple[bool, int]]) -> list[bool]:
    asked: list[bool] = []
    reflex = Ducking(asked.append)
    for trace, now in looks:
        reflex.look(trace, now)
    return asked


def test_the_first_trace_counts_and_the_others_hold_it() -> None:
    assert asked_of([(True, 0), (True, 160), (False, 320), (True, 480)]) == [True]


def test_without_another_trace_the_reply_is_loud_again() -> None:
    assert asked_of([(True, 0), (False, HOLD - 1)]) == [True]
    assert asked_of([(True, 0), (False, HOLD), (False, 2 * HOLD)]) == [True, False]


def test_it_says_whether_there_was_a_trace_just_now() -> None:
    reflex = Ducking(lambda ducked: None)
    assert not reflex.ducking
    reflex.look(True, 0)
    assert reflex.ducking
    reflex.look(False, HOLD)
    assert not reflex.ducking
