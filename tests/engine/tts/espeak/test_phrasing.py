"""Contexts depend on the words alone, and wait for no more than one word."""

import pytest

from engine.tts.espeak.phrasing import Phrasing, split_word


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
    assert phrasing.finished


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
