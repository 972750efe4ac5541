"""Frames of every symbol: a sentence has its rate to a frame, and edges stay."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.durations import (
    PAUSING_BELOW,
    PER_SECOND,
    SHORTEST_LEAD,
    Pace,
    Script,
    fitted,
    lateness,
    make_script,
    pauses_after,
    silent_frames,
)

NONE = np.zeros(0, np.int64)
AROUND = 1.5  # frames that sound around a sentence's symbols
SYLLABLES = ["tˈæ", "bə", "stˈɪk", "lˈA", "ɪn", "dˈɔɹ"]
WORDS = st.builds(
    lambda syllables, mark: PhonedWord(tuple("".join(syllables)), mark),
    st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=3),
    st.sampled_from(["", "", "", ","]),
)
SENTENCES = st.lists(WORDS, min_size=5, max_size=25)
RATES = st.floats(1.0, 7.0)


def script_of(words: list[PhonedWord], rate: float | None, *, closed: bool = True) -> Script:
    pauses = pauses_after(words, [rate] * len(words), ())
    return make_script(words, pauses, closed=closed, british=False)


def natural_of(script: Script, seed: int) -> np.ndarray:
    """Frames such as Kokoro gives: some for a sound, more for a mark, many at the edges."""
    sounds = np.random.default_rng(seed).uniform(1.2, 3.5, 1000)
    marks = [5.0 * (symbol in ",.?!") for symbol in script.text]
    each = [sounds[ord(symbol)] + mark for symbol, mark in zip(script.text, marks, strict=True)]
    return np.array([9.0, *each, 11.0])


def pace_of(words: list[PhonedWord], rate: float | None, seed: int) -> Pace:
    """The voice's own pace is that of its frames."""
    script = script_of(words, None)
    own = script.nuclei.sum() * PER_SECOND / natural_of(script, seed)[1:-2].sum()
    return Pace(rate, (1.0,) * len(words), float(own))


def too_late(words: list[PhonedWord], rate: float, seed: int) -> float:
    """Frames by which a sentence is longer than its syllables over the rate."""
    script = script_of(words, rate)
    pace = pace_of(words, rate, seed)
    frames = fitted(script, natural_of(script, seed), NONE, pace, closed=True)
    assert frames.min() >= 1
    return lateness(script, frames, 0, len(script.text) - 1, pace) + AROUND


@settings(max_examples=40)
@given(SENTENCES, st.floats(PAUSING_BELOW, 6.0), st.integers(0, 9))
def test_a_sentence_lasts_as_its_rate_says(words, rate, seed):
    assert abs(too_late(words, rate, seed)) <= 1


@settings(max_examples=40)
@given(SENTENCES, st.floats(1.5, PAUSING_BELOW), st.integers(0, 9))
def test_it_does_so_with_pauses(words, rate, seed):
    """With a last word like the first one, which is taken for it before it is known."""
    assert abs(too_late([*words, replace(words[0], mark="")], rate, seed)) <= 1.5


@settings(max_examples=40)
@given(SENTENCES, RATES, RATES, st.sampled_from([9.0, 21.0]))
def test_edges_keep_at_every_rate(words, one, other, lead):
    """The lead is as long as the voice makes it, but not shorter than the shortest."""
    for rate in (one, other, None):
        script = script_of(words, rate)
        natural = natural_of(script, 1)
        natural[0], natural[-1] = lead, 11.0
        frames = fitted(script, natural, NONE, pace_of(words, rate, 1), closed=True)
        assert frames[0] == max(SHORTEST_LEAD, lead)
        assert abs(frames[-1] - 11) <= 1


@settings(max_examples=40)
@given(SENTENCES, RATES)
def test_pauses_are_between_words_of_slow_speech_only(words, rate):
    pauses = pauses_after(words, [rate] * len(words), ())
    assert pauses[-1] == 0
    if rate >= PAUSING_BELOW:
        assert not any(pauses)
    script = make_script(words, pauses, closed=True, british=False)
    silent = np.flatnonzero(silent_frames(script))
    assert all(script.text[place] in ",.?!" for place in silent)
    assert all(place in script.ends for place in silent)


@pytest.mark.parametrize("rate", [2.0, 4.0, 6.0])
@pytest.mark.parametrize("slowed", [1.0, 0.5])
def test_a_slow_word_takes_its_time_from_no_other(rate, slowed):
    """A pace of one half makes a word twice as long; the others keep their rate."""
    words = [PhonedWord(tuple("kˈæt"))] * 12
    script = script_of(words, None)
    pace = Pace(rate, (1.0,) * 6 + (slowed,) * 6, pace_of(words, rate, 2).own)
    frames = fitted(script, natural_of(script, 2), NONE, pace, closed=True)
    first, second = (
        frames[1 + script.firsts[begin] : 1 + script.firsts[end]].sum()
        for begin, end in ((0, 5), (6, 11))
    )
    assert first / second == pytest.approx(slowed, rel=0.25)
