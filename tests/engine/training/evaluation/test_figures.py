"""The table: medians and worst of every voice, what was missed, and what nobody measured."""

import json
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from engine.training.corpus.matching import match
from engine.training.evaluation.cloning import likeness
from engine.training.evaluation.figures import (
    FIGURES,
    LOST_SOUNDS,
    UNMEASURED,
    UP,
    Figure,
    Results,
    details,
    table,
)
from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.recognisers import Naturalness
from engine.training.evaluation.results import (
    Judge,
    Judges,
    errors,
    interval,
    judge,
    read_results,
)
from engine.training.evaluation.voices import phonemizer_library
from engine.training.teachers import synthesisers
from engine.training.teachers.sounds import phoned
from engine.training.teachers.synthesisers import Request, Take
from tests.engine.training.conftest import judged, needs_flite


def figure(name: str) -> Figure:
    return next(each for each in FIGURES if each.name == name)


TWO_RATES = Results(rates={2.0: (judged(rate=2.2),), 5.0: (judged(rate=4.5),)})
SLIDER = Results(rates={UP[0]: (judged(heard="good"),), 4.0: (judged(heard=""),)})
LOST = Results((judged(), judged(gap=LOST_SOUNDS), judged(voice="Bo", gap=None)))
PLACED = judged(onsets=(0.1, 0.5), starts=(0.12, 0.53))


WORST = Results((judged(), judged(voice="C"), judged(voice="B", heard="good evening")))
TURNED = Results(rates={2.0: (judged(rate=4.0),), 5.0: (judged(rate=3.0),)})
ONSETS = Results((PLACED, judged(onsets=(0.1, 0.9)), judged(starts=(0.9,))))
MINUTES = Results(minutes=(0.02, 0.5, 0.03))
RATED = Results((judged(naturalness=Naturalness(3.45, 2.5)),))


@pytest.mark.parametrize(
    ("name", "heard", "cell", "outcome"),
    [
        ("words wrong, bigram", WORST, "0.0% / 50.0%", "miss"),  # of each voice; the worst decides
        ("words wrong, bigram", Results((judged(),)), "0.0% / 0.0%", "pass"),
        ("words wrong, Whisper, all", Results((judged(wrong=None),)), UNMEASURED, ""),
        ("speaking rate, error", TWO_RATES, "10.0% / 10.0%", None),
        ("a higher rate is always faster", TWO_RATES, None, "pass"),
        ("a higher rate is always faster", TURNED, None, "miss"),
        ("words wrong at 2 SPS, bigram", SLIDER, "50.0% / 50.0%", None),
        ("words wrong at 6 SPS, bigram", SLIDER, UNMEASURED, None),
        ("nothing skipped or repeated", LOST, "50.0% / 50.0%", "miss"),
        ("nothing skipped or repeated", Results((judged(gap=LOST_SOUNDS - 1),)), None, "pass"),
        # where both sides have every word
        ("word onsets, distance from an aligner's", ONSETS, "25 ms / 25 ms", None),
        ("DNSMOS P.808", RATED, None, "pass"),
        ("DNSMOS overall", RATED, None, "miss"),
        ("words wrong, last minute of a long text minus its first", MINUTES, None, "pass"),
    ],
)
def test_a_figure_is_a_cell_and_an_outcome(name, heard, cell, outcome):
    assert cell in (None, figure(name).cell(heard))
    assert outcome in (None, figure(name).outcome(heard))


def test_details_say_what_a_figure_does_not():
    assert table(Results()).count(UNMEASURED) == len(FIGURES)
    assert "2 -> 2.20, 5 -> 4.50" in details(TWO_RATES)
    assert "asked" not in details(Results(rates={4.0: ()}))
    assert "2.0% 50.0% 3.0%" in details(MINUTES)


def test_a_change_of_the_slider_is_timed_and_one_that_is_not_heard_never_ends():
    def turning(after: float) -> Results:
        starts = (*np.arange(0, 10, 0.5), *np.arange(10, 20, 1 / after))
        text = " ".join("word" for _ in starts)
        return Results(steps={UP: (judged(text=text, switched=10.0, starts=starts),)})

    time = figure("slider 2 -> 6, time to 90 % of the change")
    assert time.outcome(turning(6.0)) == "pass"
    assert "measured SPS, slider 2 -> 6: 2.0 -> 6.0" in details(turning(6.0))
    assert time.cell(turning(2.0)) == "never / never"
    assert time.outcome(turning(2.0)) == "miss"
    assert figure("slider 6 -> 2, time to 90 % of the change").cell(turning(6.0)) == UNMEASURED


def test_clones_like_their_own_speakers_are_told_from_those_like_a_named_voice():
    own = {"clone": [1.0, 0.1], "other": [1.0, 0.0]}
    lost = {"clone": [0.6, 0.8], "other": [0.0, 1.0]}
    named = {"vector": [0.6, 0.8]}
    found = likeness([own, {}, lost, named])
    assert (found.best, found.equal_error) == (0.5, 0.0)
    assert found.of_named == pytest.approx((0.6, 0.8))
    assert figure("likeness of a clone to its speaker").cell(Results(likeness=found)) != UNMEASURED
    assert likeness([own, named]) is None


# ----------------------------------------------------------------------------------------- results


TEXTS = ("The train is at the station now.", "Should I cancel the meeting on Monday?")


class Flite:
    """Says other texts than it was given, if it is told to."""

    def __init__(self, *instead: str) -> None:
        self.name, self._instead = "rms", instead

    def speak(self, texts: tuple[str, ...], rates: tuple[float, ...]) -> list[Spoken]:
        requests = [Request(text, "rms", 1.0, 100.0) for text in self._instead or texts]
        takes = synthesisers.speak_all("flite", requests)
        return [
            Spoken(text, take.pcm, take.sample_rate, onsets=_onsets(text, take))
            for text, take in zip(texts, takes, strict=True)
            if take
        ]


def _onsets(text: str, take: Take) -> tuple[float, ...]:
    """Where flite says that the words begin."""
    words = phoned(text, phonemizer_library())
    found = match([phone for word in words for phone in word.phones], take.sounds)
    firsts = accumulate((len(word.phones) for word in words[:-1]), initial=0)
    return tuple(found.starts[first] / take.sample_rate for first in firsts) if found else ()


@needs_flite
def test_a_good_synthesiser_passes_and_one_that_skips_and_repeats_does_not():
    judges = Judges(TEXTS, whisper=False, sounds=True)
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
    assert all(each.gap is not None and each.gap < 4 for each in good)
    assert all(each.gap is not None and each.gap >= LOST_SOUNDS for each in bad)
    assert all(each.onset_gaps and max(each.onset_gaps) < 0.1 for each in good)


def test_an_interval_narrows_with_the_sentences_and_is_the_same_every_time():
    few = [judged(wrong=count) for count in (0, 0, 0, 1, 2)]
    assert errors(few) == pytest.approx(0.3)
    assert 0.2 < interval(few) < 0.4
    assert interval(few * 16) == pytest.approx(interval(few) / 4, rel=0.15)
    assert interval(few) == interval(few)
    assert interval([]) == 0.0
