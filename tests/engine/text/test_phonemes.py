"""Word by word sounds like the whole text, as far as no future has to be known."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.barge_in_words import COMMANDS, HALTS, NODDING, NODS, halts
from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer, is_nucleus, split_mark
from engine.text.rules.punctuation import ends_sentence
from engine.text.speakable import Speakable
from engine.text.syllables import count
from tests.engine.text.cases import CASES, espeak, phoned


def whole(espeak: Espeak, text: str) -> list[str]:
    clauses = [clause.strip() for clause in re.split(r"[,.?!]", text) if clause.strip()]
    return [phone for clause in clauses for group in espeak.groups(clause) for phone in group]


@pytest.mark.parametrize("sentence", CASES["sentences"])
def test_word_by_word_has_the_phones_of_the_whole_sentence(sentence):
    found = [phone for word in phoned(sentence.split(), espeak()) for phone in word.phones]
    expected = whole(espeak(), sentence)
    assert len(found) == len(expected)
    # A flap or a reduced vowel may differ where the first words were not held.
    assert sum(a != b for a, b in zip(found, expected, strict=True)) <= 1


def test_every_pushed_word_comes_out_once_and_in_order():
    text = "I said it to the man, and he -- smiled!"
    found = phoned(text.split(), espeak())
    assert [word.mark for word in found] == ["", "", "", "", "", ",", "", "", "", "!"]
    assert [bool(word.phones) for word in found] == [True] * 8 + [False, True]


def test_a_word_that_the_next_one_changes_is_held_until_it_is_known():
    """But for the first one, because speech must begin, and one before a mark."""
    assert WordPhonemizer(espeak()).push("The")
    phonemizer = WordPhonemizer(espeak())
    assert phonemizer.push("Really")
    assert phonemizer.push("that?") == [PhonedWord(("ð", "ˈæ", "t"), "?")]
    assert phonemizer.push("?!") == [PhonedWord((), "?")]
    assert phonemizer.push("the") == []
    the, apple = phonemizer.push("apple.")
    assert the.phones == ("ð", "ɪ")
    assert apple.mark == "."


@pytest.mark.parametrize(("text", "word", "mark"), CASES["marks"])
def test_punctuation_becomes_one_mark_the_voice_knows(text, word, mark):
    assert split_mark(text) == (word, mark)


def test_an_endless_word_is_cut():
    (word,) = WordPhonemizer(espeak()).push("a" * 100_000 + ".")
    assert len(word.phones) < 2_000


def test_syllables_are_counted_by_their_nuclei():
    (word,) = WordPhonemizer(espeak()).push("banana.")
    assert word.syllables == 3
    assert is_nucleus("n\u0329")
    assert not is_nucleus("tʃ")


def test_the_letter_a_sounds_like_itself_in_a_spelling():
    letters = Speakable()
    spoken = [word.text for word in (*letters.push("N, A, M, E."), *letters.end())]
    assert espeak().groups(spoken[1].rstrip(",")) == [["ˈeɪ"]]


def test_a_sentence_ends_also_inside_brackets_and_quotes_and_not_with_less():
    assert all(map(ends_sentence, CASES["sentence_ends"]))
    assert not any(map(ends_sentence, CASES["no_sentence_ends"]))


def test_a_word_has_the_syllables_of_the_dictionary_and_letters_as_they_are_said():
    known = {word: number for number, words in CASES["syllables"] for word in words.split()}
    known |= dict(CASES["letters_and_compounds"])
    assert {word: count(word) for word in known} == known


@given(st.text(min_size=1, max_size=30))
def test_any_text_has_a_count_and_letters_have_at_least_one(text):
    assert count(text) >= (1 if any(char.isalpha() for char in text) else 0)


def test_nothing_both_halts_and_nods_and_who_says_more_asks_for_something_else():
    assert not set(HALTS) & set(NODS)
    assert not COMMANDS & NODDING
    for text in (*HALTS, *NODS):  # each is written as it is looked up
        assert halts(text) == (text in HALTS)
        assert text == " ".join(text.lower().split())
    assert halts("Wait a moment!")
    assert not halts("Wait a moment, which river?")
    assert not halts("")
