"""Pronunciations of words the dictionary lacks."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.asr.sphinx.pronounce import pronounce

DICTIONARY = {
    "meter": "M IY T ER",
    "joules": "JH UW L Z",
    "liter": "L IY T ER",
    "gram": "G R AE M",
    "horse": "HH AO R S",
    "math": "M AE TH",
    "bit": "B IH T",
    "mute": "M Y UW T",
    "organize": "AO R G AH N AY Z",
    "sun": "S AH N",
    "flower": "F L AW ER",
}
VOWELS = {"AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"}
CONSONANTS = {
    *("B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N"),
    *("NG", "P", "R", "S", "SH", "T", "TH", "V", "W", "Y", "Z", "ZH"),
}
PHONES = VOWELS | CONSONANTS


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        ("meter", "M IY T ER"),
        ("kilojoules", "K IH L AH JH UW L Z"),
        ("litre", "L IY T ER"),
        ("litres", "L IY T ER Z"),
        ("nanometres", "N AE N OW M IY T ER Z"),
        ("gramme", "G R AE M"),
        ("maths", "M AE TH S"),
        ("horses", "HH AO R S IH Z"),
        ("gigabits", "G IH G AH B IH T S"),
        ("unmute", "AH N M Y UW T"),
        ("organise", "AO R G AH N AY Z"),
        ("sunflower", "S AH N F L AW ER"),
        ("rubato", "R UW B AA T OW"),
        ("blix", "B L IH K S"),
    ],
)
def test_a_word_is_taken_apart_into_what_is_known(word, phones):
    assert pronounce(word, DICTIONARY.get) == phones


@settings(max_examples=40)
@given(st.text(string.ascii_lowercase + "'", max_size=30))
def test_whatever_the_word_the_phones_are_of_the_models_set(word):
    phones = pronounce(word, DICTIONARY.get)
    assert phones is None or set(phones.split()) <= PHONES
    assert phones is not None or not set(word) & set(string.ascii_lowercase)
