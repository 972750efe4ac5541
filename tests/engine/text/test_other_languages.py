"""Phones of Spanish, Italian, Portuguese and French, word by word."""

from functools import cache

import pytest

from engine.text.phonemes import Espeak
from tests.engine.text.cases import phoned
from tests.engine.text.test_phonemes import whole

# Words that change their neighbours: Spanish n and b, Portuguese s and e before a vowel or a voiced
# sound, French liaison and elision.
SENTENCES = {
    "es": (
        "Un beso en Barcelona con pan y sin vino.",
        "Los amigos dan las gracias a la dama y a los dos gatos.",
        "¿Quién viene con Berta, o es que no viene?",
        "Juan vio un gran barco blanco en Brasil.",
        "El agua del río baja fría desde la sierra.",
    ),
    "it": (
        "Gli amici dell'università sono andati all'arrivo.",
        "Non posso, c'è un po' di pane per l'uomo.",
        "Con Paolo e in bocca al lupo, un bambino sa già tutto.",
        "L'estate è finita e ho freddo anch'io.",
        "Perché la famiglia non mangia gli gnocchi di zia?",
    ),
    "pt-br": (
        "As amigas estão aqui e os homens também.",
        "Vinte e um olhos azuis, de noite e de dia.",
        "Os dados mostram que as águas são boas.",
        "Minha mãe e meus avós vão à praia hoje.",
        "Você tem uns dois ou três livros antigos?",
    ),
    "fr-fr": (
        "Les amis que vous avez ont un grand enfant.",
        "C'est un homme, et il est allé en Italie.",
        "Nous avons dix euros, six heures et deux ans.",
        "Les héros de mes histoires n'ont aucun ami.",
        "Tout à coup, ils ont ouvert les autres yeux.",
    ),
}


@cache
def espeak(language: str) -> Espeak:
    return Espeak(language)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [(language, each) for language, sentences in SENTENCES.items() for each in sentences],
)
def test_word_by_word_has_the_phones_of_the_whole_sentence(language, sentence):
    """The first word, too: "Les" before "amis" has a z."""
    words = phoned(sentence.split(), espeak(language))
    found = "".join(phone for word in words for phone in word.phones)
    assert found == "".join(whole(espeak(language), sentence.strip("¿")))


@pytest.mark.parametrize(
    ("language", "words", "phones"),
    [
        ("fr-fr", "Les amis", "z"),
        ("fr-fr", "Les héros", "e-"),
        ("fr-fr", "vous avez", "z"),
        ("fr-fr", "vous voyez", "u"),
        ("pt-br", "Os olhos", "z"),
        ("es", "Un beso", "m"),
    ],
)
def test_the_first_word_waits_for_the_next(language, words, phones):
    first, _ = phoned(words.split(), espeak(language))
    assert first.phones[-1] == phones


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("es", "casa:2 seis:1 muy:1 rey:1 ciudad:2 bueno:2 país:2 río:2 oír:2 leer:2 estáis:2"),
        ("es", "guerra:2 Europa:3 cuidado:3 aire:2 pizza:2 lápiz:2 murciélago:4"),
        ("it", "casa:2 poi:1 mai:1 più:1 può:1 già:1 buono:2 cuore:2 vuoi:1 mio:2 zia:2 auto:2"),
        ("it", "paura:3 gnocchi:2 città:2 Europa:3 lui:1 sciopero:3 famiglia:3 perché:2"),
        ("pt-br", "casa:2 mãe:1 pão:1 não:1 sim:1 leite:2 sabe:2 também:2 avião:3 céu:1 rio:1"),
        ("pt-br", "manhã:2 coração:3 água:2 trabalho:3 um:1 noite:2 quatro:2"),
        ("fr-fr", "maison:2 nuit:1 huit:1 puis:1 rien:1 bien:1 loin:1 enfant:2 un:1 pain:1"),
        ("fr-fr", "table:1 soleil:2 famille:2 aujourd'hui:3 trois:1 montagne:2 œil:1 brun:1"),
    ],
)
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
