"""Results: the same judges for everyone, and nothing lost on the way through a file."""

import json
from itertools import accumulate
from typing import Any

import pytest

from engine.training.corpus.matching import longest_gap, match
from engine.training.evaluation.figures import LOST_SOUNDS
from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.results import (
    Judge,
    Judges,
    Result,
    errors,
    interval,
    judge,
    read_results,
    settling,
)
from engine.training.evaluation.voices import phonemizer_library
from engine.training.teachers import synthesisers
from engine.training.teachers.sounds import phoned
from engine.training.teachers.synthesisers import Request, Take
from tests.engine.training.conftest import judged, needs_flite

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


def test_sounds_left_out_and_sounds_said_twice_are_counted_in_a_row():
    meant = ["s", "t", "eh", "sh", "ə", "n", "n", "aʊ"]
    assert longest_gap(meant, meant) == 0
    assert longest_gap(meant, meant[:3]) == 5
    assert longest_gap(meant, [*meant[:3], "m", "m", *meant[5:]]) == 2
    assert longest_gap(meant, meant + meant) == 8


def test_an_interval_narrows_with_the_sentences_and_is_the_same_every_time():
    few = [judged(wrong=count) for count in (0, 0, 0, 1, 2)]
    assert errors(few) == pytest.approx(0.3)
    assert 0.2 < interval(few) < 0.4
    assert interval(few * 16) == pytest.approx(interval(few) / 4, rel=0.15)
    assert interval(few) == interval(few)
    assert interval([]) == 0.0


def stepping(before: float, after: float, late: float, *, aligned: bool = True) -> Result:
    """Words of one syllable at two rates; the second is asked for at 10 s and comes `late`."""
    starts, now = [], 0.0
    while now < 20:
        starts.append(now)
        now += 1 / (before if now < 10 + late else after)
    text = " ".join("word" for _ in starts)
    times = (tuple(starts), (0.0,)) if aligned else ((), tuple(starts))
    return judged(text=text, switched=10.0, starts=times[0], onsets=times[1])


@pytest.mark.parametrize("late", [0.0, 2.0])
@pytest.mark.parametrize(("before", "after"), [(2.0, 6.0), (6.0, 2.0)])
def test_a_sudden_change_takes_as_long_as_the_window_smears_it_and_as_it_is_late(
    before, after, late
):
    """Without an alignment the voice's own onsets serve."""
    found = settling([stepping(before, after, late)] * 2)
    assert found.before == pytest.approx(before, rel=0.1)
    assert found.after == pytest.approx(after, rel=0.1)
    assert found.seconds == pytest.approx(0.4 + late, abs=0.3)
    assert settling([stepping(before, after, late, aligned=False)]) == found
    assert settling([judged()]) is settling([]) is None
