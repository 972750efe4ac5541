"""Abbreviations sound the same wherever they stand, with either accent."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from pathlib import Path

import pytest

from engine.text.phonemes import Espeak
from engine.text.pronunciation.initialisms import respelled, spelled
from tests.engine.text.cases import CASES
from tests.engine.text.phoned import phoned

_SPELLED, _SAID = (
    [word for line in part.splitlines() if not line.startswith("#") for word in line.split()]
    for part in Path(__file__).with_name("abbreviations.txt").read_text("utf-8").split("---")
)
_PLACES = (
    ("{}.", 0), ("{} is late.", 0), ("It covers {}, and more.", 2), ("We saw {} today.", 2),
    ("We saw {}", 2), ("The one before {}?", 3), ("THE NEW {} REPORT", 2),
)  # fmt: skip


@pytest.fixture(scope="module", params=["en-us", "en-gb"])
def espeak(request: pytest.FixtureRequest) -> Espeak:
    return Espeak(request.param)


def sound(espeak: Espeak, text: str, place: int) -> tuple[str, ...]:
    """The phones of the word at a place of a text."""
    return phoned(text.split(), espeak)[place].phones


def bare(phones: tuple[str, ...]) -> str:
    return "".join(phones).replace("ˈ", "").replace("ˌ", "")


def differing(espeak: Espeak, words: list[str]) -> list[str]:
    """Those whose sound depends on where they stand."""
    places = [place for place in _PLACES if "THE NEW" not in place[0]]
    return [
        word
        for word in words
        if len({sound(espeak, text.format(word), place) for text, place in places}) > 1
    ]


def test_an_abbreviation_sounds_the_same_everywhere(espeak):
    """Whether it is spelled or said as a word."""
    assert len(_SPELLED) >= 150
    assert differing(espeak, [*_SPELLED, *_SAID]) == []
    assert [word for word in _SAID if spelled(word)] == []
    stressed = [phone for phone in sound(espeak, "GPU.", 0) if "ˈ" in phone]
    assert stressed == ["ˈuː"]  # of the last letter


def test_spelled_means_letter_by_letter(espeak):
    """American linking in the alphabet is not looked at: "R" before "A"."""
    names = {letter: bare(sound(espeak, f"{letter}.", 0)) for letter in map(chr, range(65, 91))}
    wrong = [
        word
        for word in _SPELLED
        if bare(sound(espeak, f"{word}.", 0)).replace("ɹ", "")
        != "".join(names[letter] for letter in word).replace("ɹ", "")
    ]
    assert wrong == []


@pytest.mark.parametrize(("text", "place", "ends"), CASES["plurals"])
def test_the_s_of_a_plural_is_heard(espeak, text, place, ends):
    assert bare(sound(espeak, text, place)).endswith(ends)


@pytest.mark.parametrize("word", ["SMSs", "AWS's", "boxes", "DNSs", "UXs"])
def test_behind_a_hiss_the_s_is_a_syllable(espeak, word):
    assert sound(espeak, f"{word}.", 0)[-2:] in (("ᵻ", "z"), ("ɪ", "z"))


@pytest.mark.parametrize(("word", "said"), CASES["capitals"])
def test_capitals_are_words_parts_or_letters(word, said):
    assert respelled(word) == said


@pytest.mark.parametrize(("before", "word", "after", "said"), CASES["words_in_capitals"])
def test_what_is_a_word_as_well_is_one_beside_other_words_in_capitals(before, word, after, said):
    assert respelled(word, before, after) == said
