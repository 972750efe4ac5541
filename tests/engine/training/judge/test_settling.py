"""The slider's curve: from when the voice speaks at the new rate."""

import pytest

from engine.training.judge.settling import settling
from engine.training.judge.verdicts import Verdict
from tests.engine.training.verdict import verdict


def stepping(before: float, after: float, late: float, *, aligned: bool = True) -> Verdict:
    """Words of one syllable at two rates; the second is asked for at 10 s and comes `late`."""
    starts, now = [], 0.0
    while now < 20:
        starts.append(now)
        now += 1 / (before if now < 10 + late else after)
    text = " ".join("word" for _ in starts)
    times = {"starts": tuple(starts), "onsets": (0.0,)}
    if not aligned:
        times = {"starts": (), "onsets": tuple(starts)}
    return verdict(text=text, seconds=20.5, switched=10.0, **times)


@pytest.mark.parametrize(("before", "after"), [(2.0, 6.0), (6.0, 2.0)])
def test_a_sudden_change_takes_as_long_as_the_window_smears_it(before: float, after: float) -> None:
    found = settling([stepping(before, after, 0.0), stepping(before, after, 0.0)])
    assert found is not None
    assert found.before == pytest.approx(before, rel=0.1)
    assert found.after == pytest.approx(after, rel=0.1)
    assert found.seconds == pytest.approx(0.4, abs=0.2)


def test_a_late_change_is_late_by_as_much() -> None:
    at_once, late = (settling([stepping(2.0, 6.0, by)]) for by in (0.0, 2.0))
    assert at_once is not None
    assert late is not None
    assert at_once.seconds is not None
    assert late.seconds == pytest.approx(at_once.seconds + 2.0, abs=0.3)


def test_without_an_alignment_the_talkers_own_onsets_serve() -> None:
    assert settling([stepping(2.0, 6.0, 1.0, aligned=False)]) == settling([stepping(2.0, 6.0, 1.0)])


def test_an_utterance_without_a_change_says_nothing() -> None:
    assert settling([verdict()]) is None
    assert settling([]) is None
