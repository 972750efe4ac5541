"""Other scripts are left out, Latin letters are read, as their base letters where need be."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.phonemes import Espeak, WordPhonemizer
from engine.text.pronunciation.scripts import composed, is_foreign, readable, without_foreign
from engine.text.stream.piece import Piece
from tests.engine.text.cases import CASES

_KNOWN = "naïve Zürich Besançon señor København Straße Łódź Dvořák École Þór İstanbul résumé"


def kept(text: str) -> str:
    return without_foreign(Piece.at(text, 0)).text


@pytest.mark.parametrize("text", CASES["other_scripts"])
def test_a_word_in_another_script_is_left_out(text):
    assert kept(text) == " "
    as_macos_writes_it = Piece.at(unicodedata.normalize("NFD", text), 0)
    assert without_foreign(composed(as_macos_writes_it)).text == " "


@pytest.mark.parametrize("text", CASES["readable"])
def test_what_can_be_read_is_kept(text):
    assert kept(text) == text


def test_words_on_either_side_stay_apart():
    assert kept("hello你好world") == "hello world"
    assert kept("«Иван-Пётр»") == "« »"


@pytest.mark.parametrize(("word", "base"), CASES["stacked_accents"])
def test_stacked_accents_are_read_by_the_base_letter(word, base):
    assert readable(word) == base
    assert readable(unicodedata.normalize("NFD", word)) == base


@pytest.mark.parametrize("word", _KNOWN.split())
def test_what_espeak_knows_is_not_changed(word):
    assert readable(word) == word


@pytest.mark.parametrize("language", CASES["accents_and_bases"])
@pytest.mark.parametrize(("word", "base"), [("Nguyễn", "Nguyen"), ("Phở", "Pho"), ("Tuấn", "Tuan")])
def test_stacked_accents_sound_like_base_letters(language, word, base):
    espeak = Espeak(language)
    assert WordPhonemizer(espeak).push(f"{word}.") == WordPhonemizer(espeak).push(f"{base}.")


@pytest.mark.parametrize("word", ["naïve", "Zürich", "Besançon", "café"])
def test_accents_that_stand_apart_sound_like_composed_ones(word):
    espeak = Espeak()
    apart = unicodedata.normalize("NFD", word)
    assert WordPhonemizer(espeak).push(apart) == WordPhonemizer(espeak).push(word)


@pytest.mark.parametrize(
    ("language", "text", "count"), [("en-us", "你好.", 0), ("ru", "Привет.", 6)]
)
def test_only_a_voice_of_it_says_another_script(language, text, count):
    (word,) = WordPhonemizer(Espeak(language)).push(text)
    assert (len(word.phones), word.mark) == (count, ".")


_APART = st.text(
    st.sampled_from("aeo x.-你가\u1100\u1161\u11a8\u0301\u0308\u0323\u3099か\u09c7\u09be")
)


@given(st.text(max_size=20) | _APART)
def test_a_composed_piece_is_the_text_in_nfc(text):
    piece = composed(Piece.at(text, 0))
    assert piece.text == unicodedata.normalize("NFC", text)
    assert len(piece.places) == len(piece.text)
    assert list(piece.places) == sorted(piece.places)


@given(st.text(max_size=20))
def test_nothing_foreign_is_left_for_espeak(text):
    assert not any(map(is_foreign, readable(text)))
