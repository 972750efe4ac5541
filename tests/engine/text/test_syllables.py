"""Syllables as a dictionary counts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.interaction import COMMANDS, HALTS, NODDING, NODS, halts, words
from engine.text.syllables import count
from tests.engine.text.cases import CASES

_SYLLABLES = {
    1: """league the cat strength make tree days walked jumped played miles through eight world
        they're time there here house please called worked blue toes""",
    2: """layer value beyond hello water table apple little maple wanted needed started boxes
        churches wishes being going didn't isn't rhythm prism people lonely movement hopeful
        million question
        ocean today""",
    3: """typically banana computer elephant beautiful syllable assistant everything expected radio
        area idea audio period whatever amazing energy serious""",
    4: """information conversation celebration experience immediate territory usually
        temperature""",
    5: "university communication refrigerator",
    6: "responsibility",
}
WORDS = [(word, number) for number, words in _SYLLABLES.items() for word in words.split()]


@pytest.mark.parametrize(("word", "syllables"), WORDS)
def test_a_word_has_the_syllables_of_the_dictionary(word, syllables):
    assert count(word) == syllables


@pytest.mark.parametrize(("word", "syllables"), CASES["letters_and_compounds"])
def test_letters_and_compounds_count_as_they_are_said(word, syllables):
    assert count(word) == syllables


@given(st.text(min_size=1, max_size=30))
def test_any_text_has_a_count_and_letters_have_at_least_one(text):
    assert count(text) >= (1 if any(char.isalpha() for char in text) else 0)


# ------------------------------------------------ words people say into somebody else's speech


def test_nothing_both_halts_and_nods():
    assert not set(HALTS) & set(NODS)
    assert not COMMANDS & NODDING


@pytest.mark.parametrize("text", [*HALTS, *NODS])
def test_every_text_is_written_as_it_is_looked_up(text):
    assert halts(text) == (text in HALTS)
    assert text == " ".join(text.lower().split())


def test_who_says_more_than_a_halt_asks_for_something_else():
    assert halts("Wait a moment!")
    assert not halts("Wait a moment, which river?")
    assert not halts("")


def test_words_know_no_case_and_no_punctuation():
    assert words("It's Stop… NOW!") == {"it's", "stop", "now"}
