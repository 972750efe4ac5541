"""Contexts depend on the words alone, and wait for no more than one word."""

import numpy as np
import pytest

from engine.tts.espeak.cutting import cut
from engine.tts.espeak.library import PhoneMark, Speech, WordMark
from engine.tts.espeak.phrasing import Context, Phrasing, split_word


def taken(phrasing: Phrasing) -> list[tuple[str, ...]]:
    """Contexts of everything that can be spoken now, the piece itself in brackets."""
    contexts = []
    while found := phrasing.take():
        _, context = found
        contexts.append(
            tuple(
                f"[{token}]" if place == context.target else token
                for place, token in enumerate(context.tokens)
            )
        )
    return contexts


def phrasing_of(*words: str, ended: bool = False) -> Phrasing:
    phrasing = Phrasing()
    for word in words:
        phrasing.push(word)
    if ended:
        phrasing.end()
    return phrasing


FILLER = ("many", "more", "people", "came")


@pytest.mark.parametrize(
    ("text", "contexts"),
    [
        ("The", [("[The]", *FILLER)]),  # the first word is spoken at once
        ("Well, yes.", [("[Well,]",), ("[yes.]",)]),  # a mark closes a word without waiting
        # a clause is not coloured by the one before
        (
            "Yes. It is late.",
            [("[Yes.]",), ("[It]", "is", *FILLER), ("It", "[is]", "late."),
             ("It", "is", "[late.]")],
        ),
    ],
)  # fmt: skip
def test_a_word_is_spoken_in_its_clause(text, contexts):
    assert taken(phrasing_of(*text.split())) == contexts


def test_a_later_word_waits_for_the_next_one_or_the_end():
    phrasing = phrasing_of("The", "end")
    assert len(taken(phrasing)) == 1
    phrasing.push("of")
    assert taken(phrasing) == [("The", "[end]", "of", *FILLER)]
    phrasing.end()
    assert taken(phrasing) == [("The", "end", "[of]")]


def test_abbreviations_are_spelled_and_their_neighbours_know_it():
    contexts = taken(phrasing_of("The", "FBI's", "AWS.", "“NASA's", "plan", ended=True))
    assert contexts == [
        ("[The]", *FILLER),
        ("The", "[F-B-I's]", "eh-W-S."),
        ("The", "F-B-I's", "[eh-W-S.]"),
        ("[“nasa's]", "plan", *FILLER),
        ("“nasa's", "[plan]"),
    ]


def test_a_long_clause_keeps_its_context_short():
    contexts = taken(phrasing_of(*["word"] * 50, ended=True))
    assert max(map(len, contexts)) <= 16


def test_a_word_of_ten_thousand_letters_is_spoken_in_parts():
    phrasing = phrasing_of("x" * 10_000, ended=True)
    contexts = taken(phrasing)
    assert len(contexts) == 209
    assert max(len(" ".join(context)) for context in contexts) < 400


@pytest.mark.parametrize(
    ("text", "spoken"),
    [*((each, "") for each in ["—", "...", "\x00", "\ud800", "\u200b", "😀", "*"]),
     ("\x01he\u200bllo!!!!\x00", "hello!")],
)  # fmt: skip
def test_control_characters_and_rows_of_signs_are_taken_out(text, spoken):
    """What has no sound is one silent piece."""
    (piece,) = split_word(0, text)
    assert piece.text == spoken


# ---------------------------------------------------------- cut out of the speech of their context


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
