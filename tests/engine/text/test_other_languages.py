"""Phones of Spanish, Italian, Portuguese and French, word by word."""

import pytest

from tests.engine.text.cases import CASES, espeak, phoned
from tests.engine.text.test_phonemes import whole

# Words that change their neighbours: Spanish n and b, Portuguese s and e before a vowel or a voiced
# sound, French liaison and elision.
SENTENCES = CASES["sentences_elsewhere"]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [(language, each) for language, sentences in SENTENCES.items() for each in sentences],
)
def test_word_by_word_has_the_phones_of_the_whole_sentence(language, sentence):
    """The first word, too: "Les" before "amis" has a z."""
    words = phoned(sentence.split(), espeak(language))
    found = "".join(phone for word in words for phone in word.phones)
    assert found == "".join(whole(espeak(language), sentence.strip("¿")))


@pytest.mark.parametrize(("language", "words", "phones"), CASES["first_words_elsewhere"])
def test_the_first_word_waits_for_the_next(language, words, phones):
    first, _ = phoned(words.split(), espeak(language))
    assert first.phones[-1] == phones


@pytest.mark.parametrize(("language", "words"), CASES["syllables_elsewhere"])
def test_syllables_are_counted_as_people_say_them(language, words):
    """Two vowels of a diphthong are one, with nasal vowels, too."""
    for case in words.split():
        word, count = case.split(":")
        (found,) = phoned([word], espeak(language))
        assert found.syllables == int(count), (word, found)


def test_foreign_words_have_no_spoken_flags():
    for language in SENTENCES:
        for word in ("weekend", "software", "Washington", "garçon", "Schadenfreude"):
            (found,) = phoned([word], espeak(language))
            assert found.phones
            assert not set("()") & set("".join(found.phones)), (language, found)
