"""Results: the same judges for everyone, and nothing lost on the way through a file."""

import json
import shutil
from typing import Any

import pytest

from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.results import (
    Judge,
    Judges,
    errors,
    interval,
    judge,
    read_results,
)
from engine.training.teachers import synthesisers
from engine.training.teachers.synthesisers import Request
from tests.engine.training.judged import judged

TEXTS = ("The train is at the station now.", "Should I cancel the meeting on Monday?")


class Flite:
    """Says other texts than it was given, if it is told to."""

    def __init__(self, *instead: str) -> None:
        self.name, self._instead = "rms", instead

    def speak(self, texts: tuple[str, ...], rates: tuple[float, ...]) -> list[Spoken]:
        requests = [Request(text, "rms", 1.0, 100.0) for text in self._instead or texts]
        takes = synthesisers.speak_all("flite", requests)
        return [
            Spoken(text, take.pcm, take.sample_rate)
            for text, take in zip(texts, takes, strict=True)
            if take
        ]


@pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
def test_a_good_synthesiser_passes_and_one_that_skips_and_repeats_does_not() -> None:
    judges = Judges(TEXTS, whisper=False)
    fine: Any = Flite()
    lost: Any = Flite(" ".join(TEXTS[0].split()[:3]), f"{TEXTS[1]} {TEXTS[1]}")
    good, bad = (
        read_results(json.loads(json.dumps(judge((voice,), TEXTS, (4.0,), judges))))
        for voice in (fine, lost)
    )
    assert [each.text for each in good] == list(TEXTS)
    assert errors(good) is None  # Whisper was not asked
    assert errors(good, Judge.BIGRAM) == 0.0
    assert (errors(bad, Judge.BIGRAM) or 0.0) > 0.5


def test_an_interval_narrows_with_the_sentences_and_is_the_same_every_time() -> None:
    few = [judged(wrong=count) for count in (0, 0, 0, 1, 2)]
    assert errors(few) == pytest.approx(0.3)
    assert 0.2 < interval(few) < 0.4
    assert interval(few * 16) == pytest.approx(interval(few) / 4, rel=0.15)
    assert interval(few) == interval(few)
    assert interval([]) == 0.0
