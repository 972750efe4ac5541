"""Which hearing is believed, what people say into a reply, and words that no dictionary has."""

import string
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.asr.sphinx.decoder import Hypothesis, choose, overlapping, sure, transitions
from engine.asr.sphinx.english import pronounce
from engine.text.barge_in_words import HALTS, NODS
from tests.engine.asr.conftest import CASES


def heard(text: str, least: float, *, unseen: int = 0, score: float = -3.0) -> Hypothesis:
    words = tuple(text.split())
    return Hypothesis(words, (*[1.0] * (len(words) - 1), least)[: len(words)], unseen, score)


def test_what_no_phrase_puts_together_or_nobody_is_sure_of_needs_another_and_one_is_the_most():
    """pocketsphinx rounds in a logarithm of base 1.0001 and reports up to 1.0002."""
    assert sure(heard("do you thank it till are", 0.9, unseen=5)) is None
    assert sure(heard("what are one", 0.05, unseen=2)) is None
    assert heard("stop", 1.0002).least == 1.0
    assert heard("stop", 1.0002).mean == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("phrase", "free", "believed"),
    [
        (
            heard("do you thank it till are", 0.3, unseen=5, score=-4.6),
            heard("do you think it will rain", 0.6, score=-4.0),
            "do you think it will rain",
        ),
        (
            heard("start a timer for ten minutes", 0.2, unseen=1, score=-3.0),
            heard("started to die for ten minutes", 0.2, score=-4.0),
            "start a timer for ten minutes",
        ),
        (None, heard("hello world", 0.5), "hello world"),
        (heard("yes", 0.1, unseen=1), heard("", 0.0), ""),
    ],
)
def test_what_explains_the_sound_better_is_believed(phrase, free, believed):
    assert choose(phrase, free).text == believed


def test_confidence_is_a_probability():
    chances, scores = (0.0, 0.4, 1.0), (-10.0, -3.0, 0.0)
    for least, other, unseen, *of in product(chances, chances, (0, 99), scores, scores):
        phrase = heard("stop", least, unseen=unseen, score=of[0])
        free = heard("shop", other, score=of[1])
        for likely in (sure(phrase), choose(phrase, free), choose(None, free)):
            assert likely is None or 0.0 <= likely.confidence <= 1.0


@pytest.mark.parametrize(
    ("short", "phrase", "said"),
    [
        (heard("wait", 1.0, score=-2.2), heard("me", 0.1, score=-2.1), "wait"),
        (heard("wait a minute", 1.0, score=-3.2), heard("what time is it", 0.8), None),
        (heard("no", 1.0, score=-3.4), heard("", 0.0, score=-3.4), None),
        (heard("yeah", 1.0, score=-1.5), heard("can", 0.1, score=-2.5), "yeah"),
        (heard("so", 1.0, score=-2.8), heard("slow down", 0.8, score=-2.9), None),
        (heard("", 0.0, score=0.0), heard("", 0.0, score=0.0), None),
    ],
)
def test_a_halt_explains_as_well_as_a_sentence_and_a_nod_better(short, phrase, said):
    guess = overlapping(short, phrase)
    assert (guess.text if guess else None) == said


def texts() -> set[str]:
    """Every way from state 0 to state 1."""
    ways, ended = [(0, "")], set()
    while ways:
        state, text = ways.pop()
        for source, target, _, word in transitions():
            if source == state:
                grown = f"{text} {word}".strip()
                ended.add(grown) if target == 1 else ways.append((target, grown))
    return ended


def test_the_grammar_says_every_halt_and_nod_and_nothing_else():
    assert texts() == set(HALTS) | set(NODS)


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
