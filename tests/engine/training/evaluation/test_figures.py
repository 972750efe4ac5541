"""The table: medians and worst of every voice, what was missed, and what nobody measured."""

from itertools import accumulate

import pytest

from engine.training.evaluation.parts import FIGURES, UNMEASURED, Figure, Results, errors, interval
from engine.training.evaluation.voices import Aligner, phonemizer_library
from engine.training.teachers import synthesisers
from engine.training.teachers.sounds import match
from engine.training.teachers.synthesisers import Request, Take
from engine.tts.kokoro.windows import phoned
from tests.engine.training.conftest import judged, needs_flite


def figure(name: str) -> Figure:
    return next(each for each in FIGURES if each.name == name)


TWO_RATES = Results(rates={2.0: (judged(rate=2.2),), 5.0: (judged(rate=4.5),)})
SLIDER = Results(rates={2.0: (judged(wrong=1),), 4.0: (judged(wrong=2),)})
PLACED = judged(onsets=(0.1, 0.5), starts=(0.12, 0.53))


WORST = Results((judged(), judged(voice="C"), judged(voice="B", wrong=1)))
ONSETS = Results((PLACED, judged(onsets=(0.1, 0.9)), judged(starts=(0.9,))))
RATED = Results((judged(naturalness=3.45),))


@pytest.mark.parametrize(
    ("name", "heard", "cell"),
    [
        ("words wrong, Whisper, every voice", WORST, "0.0% / 50.0%"),  # the worst of the voices
        ("words wrong, Whisper, all", Results(), UNMEASURED),
        ("speaking rate, error", TWO_RATES, "10.0% / 10.0%"),
        ("words wrong at 2 SPS, Whisper", SLIDER, "50.0% / 50.0%"),
        ("words wrong at 6 SPS, Whisper", SLIDER, UNMEASURED),
        # where both sides have every word
        ("word onsets, distance from an aligner's", ONSETS, "25 ms / 25 ms"),
        ("DNSMOS P.808", RATED, "3.45 / 3.45"),
        ("DNSMOS P.808", WORST, UNMEASURED),
    ],
)
def test_a_figure_is_a_cell(name, heard, cell):
    assert figure(name).cell(heard) == cell


# ----------------------------------------------------------------------------------------- results


TEXTS = ("The train is at the station now.", "Should I cancel the meeting on Monday?")


def _onsets(text: str, take: Take) -> tuple[float, ...]:
    """Where flite says that the words begin."""
    words = phoned(phonemizer_library(), text)
    found = match([phone for word in words for phone in word.phones], take.sounds)
    firsts = accumulate((len(word.phones) for word in words[:-1]), initial=0)
    return tuple(found.starts[first] / take.sample_rate for first in firsts) if found else ()


@needs_flite
def test_a_synthesiser_s_words_begin_where_the_aligner_finds_them():
    aligner = Aligner()
    for text in TEXTS:
        take = synthesisers.speak("flite", Request(text, "rms", 1.0, 100.0))
        starts = tuple(aligner.word_starts(take.pcm, take.sample_rate, text))
        onsets = _onsets(text, take)
        assert len(onsets) == len(starts) > 0
        assert onsets == pytest.approx(starts, abs=0.1)


def test_an_interval_narrows_with_the_sentences_and_is_the_same_every_time():
    few = [judged(wrong=count) for count in (0, 0, 0, 1, 2)]
    assert errors(few) == pytest.approx(0.3)
    assert 0.2 < interval(few) < 0.4
    assert interval(few * 16) == pytest.approx(interval(few) / 4, rel=0.15)
    assert interval(few) == interval(few)
    assert interval([]) == 0.0
