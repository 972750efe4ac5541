"""Pronunciations of words the dictionary lacks."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.asr.sphinx.pronounce import pronounce
from tests.engine.asr.cases import CASES

DICTIONARY = CASES["dictionary"]
VOWELS = {"AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"}
CONSONANTS = {
    *("B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N"),
    *("NG", "P", "R", "S", "SH", "T", "TH", "V", "W", "Y", "Z", "ZH"),
}
PHONES = VOWELS | CONSONANTS


@pytest.mark.parametrize(("word", "phones"), CASES["pronounced"])
def test_a_word_is_taken_apart_into_what_is_known(word, phones):
    assert pronounce(word, DICTIONARY.get) == phones


@settings(max_examples=40)
@given(st.text(string.ascii_lowercase + "'", max_size=30))
def test_whatever_the_word_the_phones_are_of_the_models_set(word):
    phones = pronounce(word, DICTIONARY.get)
    assert phones is None or set(phones.split()) <= PHONES
    assert phones is not None or not set(word) & set(string.ascii_lowercase)
