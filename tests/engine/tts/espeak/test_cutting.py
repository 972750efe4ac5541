"""A piece is found in the speech of its context, also where espeak joins words."""

import numpy as np
import pytest

from engine.tts.espeak.cutting import cut
from engine.tts.espeak.library import PhoneMark, Speech, WordMark
from engine.tts.espeak.phrasing import Context

Marks = list[tuple[int, str]]


def speech(words: list[tuple[int, int]], phones: Marks) -> Speech:
    """`phones` end with the end of the speech."""
    return Speech(
        np.zeros(phones[-1][0] if phones else 0, np.float32),
        tuple(WordMark(*mark) for mark in words),
        tuple(PhoneMark(*mark) for mark in phones),
    )


def spans(of: Speech, text: str) -> list[tuple[int, int] | None]:
    tokens = tuple(text.split())
    found = [cut(of, Context(tokens, place)) for place in range(len(tokens))]
    return [None if piece is None else (piece.span.start, piece.span.end) for piece in found]


AH_BEE = [(0, "h"), (100, "a"), (500, "b"), (600, "i"), (800, ""), (990, "")]


@pytest.mark.parametrize(
    ("text", "words", "phones", "found"),
    [
        # until the next one begins, the last one until its last phone ends
        ("ah bee", [(0, 0), (3, 500)], AH_BEE, [(0, 500), (500, 800)]),
        # espeak joined "of the" without a mark: divided at a phone
        (
            "of the end",
            [(0, 0), (7, 400)],
            [(0, "ʌ"), (100, "v"), (200, "ð"), (300, "ə"), (400, "ɛ"), (500, "")],
            [(0, 200), (200, 400), (400, 500)],
        ),
        # marks that espeak puts inside the first of joined words belong to the others
        (
            "such as it",
            [(0, 0), (1, 300), (8, 600)],
            [(0, "s"), (300, "ə"), (600, "i"), (900, "")],
            [(0, 300), (300, 600), (600, 900)],
        ),
        # a word of several spoken words is one piece
        (
            "3.1 a",
            [(0, 0), (1, 200), (4, 500)],
            [(0, "θ"), (200, "p"), (500, "a"), (700, "")],
            [(0, 500), (500, 700)],
        ),
        # a word that espeak says nothing for
        ("\ue000", [], [], [None]),
    ],
)
def test_every_word_has_its_place(text, words, phones, found):
    assert spans(speech(words, phones), text) == found


@pytest.mark.parametrize(
    "text",
    [
        "the end of the story such as it is",
        "it is one of the best",
        "in the end we had to be at the top",
    ],
)
def test_words_lose_and_repeat_nothing_of_real_speech(espeak, text):
    found = spans(espeak.speak(text, voice="alan", words_per_minute=175), text)
    starts, ends = zip(*(span for span in found if span), strict=True)
    assert starts == (0, *ends[:-1])
    assert len(starts) == len(text.split())


@pytest.mark.parametrize(
    ("text", "syllables"),
    [("strength", 1), ("river", 2), ("button", 2), ("syllable", 3), ("electricity", 5)],
)
def test_syllables_of_real_words(espeak, text, syllables):
    piece = cut(espeak.speak(text, voice="alan", words_per_minute=175), Context((text,), 0))
    assert len(piece.syllables) == syllables
