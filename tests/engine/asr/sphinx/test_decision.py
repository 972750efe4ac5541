"""Which hearing is believed, and how much."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.asr.sphinx.decision import Guess, Hypothesis, choose, overlapping, sure

CHANCES = st.floats(0.0, 1.0)
SCORES = st.floats(-10.0, 0.0)


def heard(text: str, least: float, *, unseen: int = 0, score: float = -3.0) -> Hypothesis:
    words = tuple(text.split())
    return Hypothesis(words, (*[1.0] * (len(words) - 1), least)[: len(words)], unseen, score)


def test_a_clear_phrase_needs_no_second_opinion():
    likely = sure(heard("what time is it", 0.9))
    assert likely is not None
    assert likely.text == "what time is it"
    assert likely.confidence > 0.9


def test_words_no_phrase_puts_together_need_one():
    assert sure(heard("do you thank it till are", 0.9, unseen=5)) is None


def test_words_nobody_is_sure_of_need_one():
    assert sure(heard("what are one", 0.05, unseen=2)) is None


def test_the_open_model_wins_where_it_explains_the_sound_better():
    phrase = heard("do you thank it till are", 0.3, unseen=5, score=-4.6)
    free = heard("do you think it will rain", 0.6, score=-4.0)
    assert choose(phrase, free).text == "do you think it will rain"


def test_the_phrase_wins_where_it_explains_the_sound_better():
    phrase = heard("start a timer for ten minutes", 0.2, unseen=1, score=-3.0)
    free = heard("started to die for ten minutes", 0.2, score=-4.0)
    assert choose(phrase, free).text == "start a timer for ten minutes"


def test_without_phrases_the_open_model_is_believed():
    assert choose(None, heard("hello world", 0.5)).text == "hello world"


def test_when_the_open_model_hears_nothing_nothing_was_said():
    assert choose(heard("yes", 0.1, unseen=1), heard("", 0.0)) == Guess("", 0.0)


@given(CHANCES, CHANCES, st.integers(0, 8))
def test_confidence_never_falls_when_the_least_sure_word_is_surer(one, other, unseen):
    low, high = sorted((one, other))
    unsure, surer = (sure(heard("what time is it", p, unseen=unseen)) for p in (low, high))
    if unsure is not None:
        assert surer is not None
        assert surer.confidence >= unsure.confidence


@given(CHANCES, st.integers(0, 8), st.integers(0, 8), SCORES, SCORES)
def test_confidence_never_rises_with_steps_no_phrase_makes(least, one, other, score, free_score):
    few, many = sorted((one, other))
    free = heard("what time was that", 0.5, score=free_score)
    phrases = [heard("what time is it", least, unseen=n, score=score) for n in (few, many)]
    fewer, more = (choose(phrase, free) for phrase in phrases)
    if more.text == "what time is it":
        assert fewer.text == more.text
        assert fewer.confidence >= more.confidence


@given(CHANCES, CHANCES, st.integers(0, 99), SCORES, SCORES)
def test_confidence_is_a_probability(least, free_least, unseen, score, free_score):
    phrase = heard("stop", least, unseen=unseen, score=score)
    free = heard("shop", free_least, score=free_score)
    for likely in (sure(phrase), choose(phrase, free), choose(None, free)):
        assert likely is None or 0.0 <= likely.confidence <= 1.0


def test_a_posterior_just_above_one_counts_as_one():
    """pocketsphinx rounds in a logarithm of base 1.0001 and reports up to 1.0002."""
    assert heard("stop", 1.0002).least == 1.0
    assert heard("stop", 1.0002).mean == pytest.approx(1.0)


def test_a_halt_that_explains_the_sound_as_well_as_a_sentence_is_one():
    said = overlapping(heard("wait", 1.0, score=-2.2), heard("me", 0.1, score=-2.1))
    assert said is not None
    assert said.text == "wait"


def test_a_halt_is_none_where_a_sentence_explains_the_sound_better():
    assert (
        overlapping(heard("wait a minute", 1.0, score=-3.2), heard("what time is it", 0.8)) is None
    )


def test_a_sound_that_is_like_no_word_is_no_halt():
    assert overlapping(heard("no", 1.0, score=-3.4), heard("", 0.0, score=-3.4)) is None


def test_a_nod_that_explains_the_sound_better_than_a_sentence_is_one():
    said = overlapping(heard("yeah", 1.0, score=-1.5), heard("can", 0.1, score=-2.5))
    assert said is not None
    assert said.text == "yeah"


def test_a_sound_that_is_hardly_like_a_nod_is_none():
    assert overlapping(heard("so", 1.0, score=-2.8), heard("slow down", 0.8, score=-2.9)) is None


def test_nothing_is_no_overlapping_speech():
    assert overlapping(heard("", 0.0, score=0.0), heard("", 0.0, score=0.0)) is None
