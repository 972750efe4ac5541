"""Verdicts: the same judges for everyone, and nothing lost on the way through a file."""

import json
import shutil

import pytest

from engine.training.corpus.matching import Gaps, gaps
from engine.training.judge.figures import LOST_SOUNDS
from engine.training.judge.performance import Spoken
from engine.training.judge.talkers import SourceTalker
from engine.training.judge.verdicts import (
    Judge,
    Judges,
    errors,
    interval,
    judge,
    read_verdicts,
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
