"""Phones in Kokoro's symbols: none is lost, and every syllable stays one."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import pytest

from engine.tts.kokoro.durations import make_script
from engine.tts.kokoro.symbols import ids, symbols
from tests.engine.tts.kokoro.words import phoned, sentences

TEXT = " ".join(sentences(150))
STRESSES = "ˈˌ"


@pytest.mark.parametrize("language", ["en-us", "en-gb"])
def test_every_phone_of_english_has_symbols_and_a_word_keeps_its_syllables(language):
    """Or its rate would be another one than was asked for."""
    british, words = language == "en-gb", phoned(TEXT, language)
    phones = {phone for word in words for phone in word.phones}
    assert len(phones) > 40
    for phone in phones:
        spelt = symbols(phone, british=british)
        assert spelt.strip(STRESSES), phone
        assert ids(spelt)[1:-1], phone
        assert set(spelt) & set(STRESSES) == set(phone) & set(STRESSES)
    for word in words:
        script = make_script([word], [0.0], closed=False, british=british)
        assert int(script.nuclei.sum()) == word.syllables, (word, script.text)


def test_diphthongs_and_affricates_are_one_symbol():
    assert symbols("ˈaɪ") + symbols("dʒ") + symbols("tʃ") == "ˈIʤʧ"
    assert symbols("oʊ") + symbols("əʊ", british=True) == "OQ"
