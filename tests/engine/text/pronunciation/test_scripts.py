"""Other scripts are left out, Latin letters are read, as their base letters where need be."""

# ruff: noqa: RUF001  IPA letters look like others on purpose
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.phonemes import Espeak
from engine.text.pronunciation.initialisms import respelled, spelled
from engine.text.pronunciation.scripts import composed, is_foreign, readable, without_foreign
from engine.text.word import Piece
from tests.engine.text.cases import CASES, espeak, phoned

_KNOWN = "naïve Zürich Besançon señor København Straße Łódź Dvořák École Þór İstanbul résumé"


def kept(text: str) -> str:
    return without_foreign(Piece.at(text, 0)).text


@pytest.mark.parametrize("text", CASES["other_scripts"])
def test_a_word_in_another_script_is_left_out(text):
    assert kept(text) == " "
    as_macos_writes_it = Piece.at(unicodedata.normalize("NFD", text), 0)
    assert without_foreign(composed(as_macos_writes_it)).text == " "


def test_what_can_be_read_is_kept_and_words_on_either_side_stay_apart():
    assert [kept(text) for text in CASES["readable"]] == CASES["readable"]
    assert kept("hello你好world") == "hello world"
    assert kept("«Иван-Пётр»") == "« »"


@pytest.mark.parametrize(
    ("word", "base"), [*CASES["stacked_accents"], *((word, word) for word in _KNOWN.split())]
)
def test_stacked_accents_are_read_by_the_base_letter_and_what_espeak_knows_as_it_is(word, base):
    assert readable(word) == base
    assert readable(unicodedata.normalize("NFD", word)) == base


@pytest.mark.parametrize("language", CASES["accents_and_bases"])
def test_stacked_accents_sound_like_base_letters_and_those_apart_like_composed_ones(language):
    composed_words = ("naïve", "Zürich", "Besançon", "café")
    apart = [(unicodedata.normalize("NFD", word), word) for word in composed_words]
    for word, base in (("Nguyễn", "Nguyen"), ("Phở", "Pho"), ("Tuấn", "Tuan"), *apart):
        assert phoned([f"{word}."], espeak(language)) == phoned([f"{base}."], espeak(language))


@pytest.mark.parametrize(
    ("language", "text", "count"), [("en-us", "你好.", 0), ("ru", "Привет.", 6)]
)
def test_only_a_voice_of_it_says_another_script(language, text, count):
    (word,) = phoned([text], espeak(language))
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


# ----------------------------------------------------------------------------------- abbreviations


_SPELLED, _SAID = (
    [word for line in part.splitlines() if not line.startswith("#") for word in line.split()]
    for part in Path(__file__).with_name("abbreviations.txt").read_text("utf-8").split("---")
)
_PLACES = (
    ("{}.", 0), ("{} is late.", 0), ("It covers {}, and more.", 2), ("We saw {} today.", 2),
    ("We saw {}", 2), ("The one before {}?", 3), ("THE NEW {} REPORT", 2),
)  # fmt: skip


@pytest.fixture(params=["en-us", "en-gb"])
def voice(request: pytest.FixtureRequest) -> Espeak:
    return espeak(request.param)


def sound(voice: Espeak, text: str, place: int) -> tuple[str, ...]:
    return phoned(text.split(), voice)[place].phones


def bare(phones: tuple[str, ...]) -> str:
    return "".join(phones).replace("ˈ", "").replace("ˌ", "")


def differing(voice: Espeak, words: list[str]) -> list[str]:
    """Those whose sound depends on where they stand."""
    places = [place for place in _PLACES if "THE NEW" not in place[0]]
    return [
        word
        for word in words
        if len({sound(voice, text.format(word), place) for text, place in places}) > 1
    ]


def test_an_abbreviation_sounds_the_same_everywhere(voice):
    assert len(_SPELLED) >= 150
    assert differing(voice, [*_SPELLED, *_SAID]) == []
    assert [word for word in _SAID if spelled(word)] == []
    stressed = [phone for phone in sound(voice, "GPU.", 0) if "ˈ" in phone]
    assert stressed == ["ˈuː"]  # of the last letter


def test_spelled_means_letter_by_letter(voice):
    """American linking in the alphabet is not looked at: "R" before "A"."""
    names = {letter: bare(sound(voice, f"{letter}.", 0)) for letter in map(chr, range(65, 91))}
    wrong = [
        word
        for word in _SPELLED
        if bare(sound(voice, f"{word}.", 0)).replace("ɹ", "")
        != "".join(names[letter] for letter in word).replace("ɹ", "")
    ]
    assert wrong == []


@pytest.mark.parametrize(("text", "place", "ends"), CASES["plurals"])
def test_the_s_of_a_plural_is_heard(voice, text, place, ends):
    assert bare(sound(voice, text, place)).endswith(ends)


@pytest.mark.parametrize(("text", "place", "ends"), CASES["no_plurals"])
def test_a_short_word_with_a_capital_is_no_plural_of_a_letter(voice, text, place, ends):
    said = bare(sound(voice, text, place))
    assert said.endswith(ends)
    assert len(said) == 2  # "ays" has three


@pytest.mark.parametrize("word", ["SMSs", "AWS's", "boxes", "DNSs", "UXs"])
def test_behind_a_hiss_the_s_is_a_syllable(voice, word):
    assert sound(voice, f"{word}.", 0)[-2:] in (("ᵻ", "z"), ("ɪ", "z"))


@pytest.mark.parametrize(
    ("before", "word", "after", "said"),
    [*CASES["words_in_capitals"], *(("", word, "", said) for word, said in CASES["capitals"])],
)
def test_capitals_are_words_parts_or_letters_and_either_beside_other_ones(
    before, word, after, said
):
    assert respelled(word, before, after) == said
