# ruff: noqa: RUF001  IPA letters look like others on purpose

import pytest

from engine.errors import InvalidInput
from engine.text.pronunciation.respelling import (
    in_english,
    mnemonics,
    phones_of,
    said_words,
    split_phones,
    with_ending,
)
from tests.engine.text.cases import CASES, espeak, phoned


@pytest.mark.parametrize(("said", "phones"), CASES["respellings"])
def test_a_respelling_and_phones_are_read(said, phones):
    (word,) = said_words(said)
    assert "".join(split_phones(word)[1]) == phones


@pytest.mark.parametrize("said", ["jiff", "engine ex", "McDonald", "NASA", "café", "o'brien"])
def test_ordinary_words_stay_as_they_are(said):
    assert said_words(said) == tuple(said.split())


def test_a_respelling_that_cannot_be_read_is_one_word():
    assert said_words("żół-ty") == ("żółty",)


def test_in_another_language_the_stress_is_an_accent():
    assert said_words("ru-BA-to", "es") == ("rubáto",)
    assert said_words("gua-TE-ma", "es") == ("guatéma",)
    assert said_words("ru-BA-to", "fr") == ("rubato",)


@pytest.mark.parametrize("bad", ["/ʃ3/", "/st/", "//", f"/{'la' * 30}/"])
def test_what_is_no_sound_is_refused(bad):
    with pytest.raises(InvalidInput):
        said_words(bad)


@pytest.mark.parametrize(("said", "ending"), [("/niːv/", "z"), ("/kat/", "s"), ("/ruːʒ/", "ɪz")])
def test_the_s_sounds_as_the_last_phone_wants(said, ending):
    (word,) = said_words(said)
    phones = split_phones(with_ending(word, "'s"))[1]
    assert "".join(phones).endswith(ending)
    assert with_ending("jiff", "'s") == "jiff's"


def test_foreign_phones_become_those_of_an_english_voice_that_espeak_reads_alike():
    for sound in ("/ʃɪˈvɔːn/", "/ʁyˈbatõ/", "/ˈxotʃitl/", "/ˈɲaɕːi/", "/ˈsɪərʃə/"):
        phones = in_english(phones_of(sound))
        spelt = mnemonics(phones)
        assert spelt.isascii()
        assert spelt
        back = "".join(espeak().phones(spelt)).replace("ː", "")
        assert back == "".join(phones).replace("ː", "")


@pytest.mark.parametrize("language", ["en-us", "en-gb", "es", "fr-fr"])
def test_the_words_beside_a_name_are_said_as_beside_any_word(language):
    (name,) = said_words("/ˈeɪvə/")
    words = phoned(["the", f"{name},", "the", name, "read"], espeak(language))
    said = ["".join(word.phones) + word.mark for word in words]
    assert said[1] == "ˈeɪvə,"
    assert said[3] == "ˈeɪvə"
    if language == "en-us":
        assert said[2] == "ðɪ"  # as before a vowel
