"""Verdicts: the same judges for everyone, and nothing lost on the way through a file."""

import json
import shutil

import pytest

from engine.training.corpus.matching import Gaps, gaps
from engine.training.evaluation.figures import LOST_SOUNDS
from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.talkers import SourceTalker
from engine.training.evaluation.verdicts import (
    Judge,
    Judges,
    Verdict,
    errors,
    interval,
    judge,
    read_verdicts,
    settling,
)
from tests.engine.training.verdict import verdict

TEXTS = ("The train is at the station now.", "Should I cancel the meeting on Monday?")
RMS = SourceTalker("flite rms", "flite", "rms", 100.0, 4.3)


class LostTalker:
    """Leaves the end of the first sentence out, and says the second one twice."""

    name = "lost"

    def speak(self, texts: tuple[str, ...], rates: tuple[float, ...]) -> list[Spoken]:
        lost = (" ".join(texts[0].split()[:3]), f"{texts[1]} {texts[1]}")
        return [
            Spoken(text, said.pcm, said.sample_rate)
            for text, said in zip(texts, RMS.speak(lost, rates), strict=True)
        ]


@pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
def test_a_good_synthesiser_passes_and_one_that_skips_does_not() -> None:
    judges = Judges(TEXTS, sounds=True, whisper=False)
    good, bad = (
        read_verdicts(json.loads(json.dumps(judge((talker,), TEXTS, (4.0,), judges))))  # type: ignore[arg-type]
        for talker in (RMS, LostTalker())
    )
    assert [each.text for each in good] == list(TEXTS)
    assert errors(good) is None  # Whisper was not asked
    assert errors(good, Judge.BIGRAM) == 0.0
    assert all(each.gaps and max(each.gaps.skipped, each.gaps.added) < 4 for each in good)
    assert all(max(each.onset_gaps) < 0.1 for each in good)
    assert all(each.gaps and max(each.gaps.skipped, each.gaps.added) >= LOST_SOUNDS for each in bad)
    assert (errors(bad, Judge.BIGRAM) or 0.0) > 0.5


def test_errors_of_what_nobody_judged_are_unknown() -> None:
    assert errors([verdict(heard_open=None)], Judge.OPEN) is None
    assert errors([]) is None


def test_sounds_left_out_and_sounds_said_twice_are_counted_in_a_row() -> None:
    meant = ["s", "t", "eh", "sh", "ə", "n", "n", "aʊ"]
    assert gaps(meant, meant) == Gaps(0, 0)
    assert gaps(meant, meant[:3]) == Gaps(5, 0)
    assert gaps(meant, [*meant[:3], "m", "m", *meant[5:]]) == Gaps(2, 2)
    assert gaps(meant, meant + meant) == Gaps(0, 8)


def test_an_interval_narrows_with_the_sentences_and_is_the_same_every_time() -> None:
    few = [verdict(wrong=count) for count in (0, 0, 0, 1, 2)]
    assert errors(few) == pytest.approx(0.3)
    assert 0.2 < interval(few) < 0.4
    assert interval(few * 16) == pytest.approx(interval(few) / 4, rel=0.15)
    assert interval(few) == interval(few)
    assert interval([]) == 0.0


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
