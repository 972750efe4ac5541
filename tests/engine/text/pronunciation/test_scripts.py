"""Other scripts are left out, Latin letters are read, as their base letters where need be."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.phonemes import Espeak, WordPhonemizer
from engine.text.pronunciation.scripts import composed, is_foreign, readable, without_foreign
from engine.text.stream.piece import Piece

# ruff: noqa: RUF001  letters that look like others, on purpose
_KNOWN = "naïve Zürich Besançon señor København Straße Łódź Dvořák École Þór İstanbul résumé"


def kept(text: str) -> str:
    return without_foreign(Piece.at(text, 0)).text


@pytest.mark.parametrize(
    "text",
    ["你好", "こんにちは", "カタカナー", "한국어", "Привет", "شكرا", "שלום", "नमस्ते", "ไทย", "Γειά"],
)
def test_a_word_in_another_script_is_left_out(text: str) -> None:
    assert kept(text) == " "


@pytest.mark.parametrize("text", ["Πάρα", "Й", "がく", "한국어"])
def test_a_word_in_another_script_is_left_out_as_macos_writes_it(text: str) -> None:
    apart = Piece.at(unicodedata.normalize("NFD", text), 0)
    assert without_foreign(composed(apart)).text == " "


@pytest.mark.parametrize(
    "text", ["naïve", "Nguyễn", "ΔT", "Δλ", "π", "µm", "x²", "ℝ", "500円", "ﬁne", "Æsir", "ŋ"]
)
def test_what_can_be_read_is_kept(text: str) -> None:
    assert kept(text) == text


def test_words_on_either_side_stay_apart() -> None:
    assert kept("hello你好world") == "hello world"
    assert kept("«Иван-Пётр»") == "« »"


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("Nguyễn", "Nguyen"), ("Đà", "Đà"), ("Nẵng", "Nang"), ("phở", "pho"), ("x̄", "x"),
        ("ẹ̀", "e"), ("Ə", "E"), ("Ṣadr", "Sadr"), ("𝐇𝐢", "Hi"), ("ﬁne", "fine"), ("你a", "a"),
        ("NGUYỄN", "NGUYEN"),
    ],
)  # fmt: skip
def test_stacked_accents_are_read_by_the_base_letter(word: str, base: str) -> None:
    assert readable(word) == base
    assert readable(unicodedata.normalize("NFD", word)) == base


@pytest.mark.parametrize("word", _KNOWN.split())
def test_what_espeak_knows_is_not_changed(word: str) -> None:
    assert readable(word) == word


@pytest.mark.parametrize("language", ["en-us", "en-gb"])
@pytest.mark.parametrize(("word", "base"), [("Nguyễn", "Nguyen"), ("Phở", "Pho"), ("Tuấn", "Tuan")])
def test_a_name_with_stacked_accents_sounds_like_its_base_letters(
    language: str, word: str, base: str
) -> None:
    espeak = Espeak(language)
    assert WordPhonemizer(espeak).push(f"{word}.") == WordPhonemizer(espeak).push(f"{base}.")


@pytest.mark.parametrize("word", ["naïve", "Zürich", "Besançon", "café"])
def test_accents_that_stand_apart_sound_like_composed_ones(word: str) -> None:
    espeak = Espeak()
    apart = unicodedata.normalize("NFD", word)
    assert WordPhonemizer(espeak).push(apart) == WordPhonemizer(espeak).push(word)


def test_what_an_english_voice_cannot_say_has_no_phones() -> None:
    (word,) = WordPhonemizer(Espeak()).push("你好.")
    assert word.phones == ()
    assert word.mark == "."


def test_a_voice_of_another_language_keeps_its_script() -> None:
    (word,) = WordPhonemizer(Espeak("ru")).push("Привет.")
    assert len(word.phones) == 6


def test_a_composed_piece_ends_behind_its_last_accent() -> None:
    apart = unicodedata.normalize("NFD", "café")
    piece = composed(Piece.at(apart, 10))
    assert piece.text == "café"
    assert (piece.start, piece.end) == (10, 10 + len(apart))


_APART = st.text(
    st.sampled_from("aeo x.-你가\u1100\u1161\u11a8\u0301\u0308\u0323\u3099か\u09c7\u09be")
)


@given(st.text(max_size=20) | _APART)
def test_a_composed_piece_is_the_text_in_nfc(text: str) -> None:
    piece = composed(Piece.at(text, 0))
    assert piece.text == unicodedata.normalize("NFC", text)
    assert len(piece.places) == len(piece.text)
    assert list(piece.places) == sorted(piece.places)


@given(st.text(max_size=20))
def test_nothing_foreign_is_left_for_espeak(text: str) -> None:
    assert not any(map(is_foreign, readable(text)))
