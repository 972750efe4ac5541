"""The language model of the skills' sentences."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.asr.phrase_model import END, START, PhraseModel

PHRASES = ["what time is it", "what day is it", "stop", "set a timer for ten minutes"]
SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6).map(" ".join),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40)
@given(SENTENCES, st.lists(st.sampled_from(["a", "b", "zebra", START]), max_size=2))
def test_what_may_follow_a_history_has_probability_one(phrases, history):
    model = PhraseModel(phrases)
    total = sum(10 ** model.log10(word, tuple(history)) for word in (*model.words, END))
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize(
    "odd",
    ["", "Stop", "what  time", "ten °C", "stop\n", "\\data\\", "<s> stop", "a" * 3 + " b" * 40],
)
def test_phrases_that_are_not_plain_words_are_left_out(odd):
    model = PhraseModel([odd, "stop"])
    assert (model.size, model.words) == (1, ("stop",))


def test_pocketsphinx_reads_the_probabilities_we_meant(tmp_path):
    from pocketsphinx import LogMath, NGramModel

    model, file = PhraseModel(PHRASES), tmp_path / "phrases.lm"
    model.write(file)
    log = LogMath()
    read = NGramModel(None, log, str(file))
    for words in (["time", "what", START], ["minutes", "what", START], ["stop"]):
        history = tuple(reversed(words[1:]))
        meant = model.log10(words[0], history) * math.log(10)
        assert log.log_to_ln(read.prob(words)) == pytest.approx(meant, abs=0.01)
