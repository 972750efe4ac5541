"""Contexts depend on the words alone, and wait for no more than one word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.tts.espeak.phrasing import Break, Phrasing, closing_break, split_word


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
def test_a_word_is_spoken_in_its_clause(text: str, contexts: list[tuple[str, ...]]) -> None:
    assert taken(phrasing_of(*text.split())) == contexts


def test_a_later_word_waits_for_the_next_one_or_the_end() -> None:
    phrasing = phrasing_of("The", "end")
    assert len(taken(phrasing)) == 1
    phrasing.push("of")
    assert taken(phrasing) == [("The", "[end]", "of", *FILLER)]
    phrasing.end()
    assert taken(phrasing) == [("The", "end", "[of]")]
    assert phrasing.finished


def test_a_dash_closes_the_clause_before_it() -> None:
    contexts = taken(phrasing_of("so", "late", "—", "again", ended=True))
    assert (contexts[1], contexts[3]) == (("so", "[late]"), ("[again]",))


def test_abbreviations_are_spelled_and_their_neighbours_know_it() -> None:
    contexts = taken(phrasing_of("The", "FBI's", "AWS.", "“NASA's", "plan", ended=True))
    assert contexts == [
        ("[The]", *FILLER),
        ("The", "[F-B-I's]", "eh-W-S."),
        ("The", "F-B-I's", "[eh-W-S.]"),
        ("[“nasa's]", "plan", *FILLER),
        ("“nasa's", "[plan]"),
    ]


def test_what_an_english_voice_cannot_say_makes_no_sound() -> None:
    phrasing = phrasing_of("Say", "你好", "now", ended=True)
    assert [found[0].text for found in iter(phrasing.take, None)] == ["Say", "", "now"]


def test_a_piece_that_is_taken_again_is_said_the_same() -> None:
    phrasing = phrasing_of("We", "record", "a", "record", ended=True)
    once = taken(phrasing)
    phrasing.go_back(1)
    assert taken(phrasing) == once[1:]


def test_a_long_clause_keeps_its_context_short() -> None:
    contexts = taken(phrasing_of(*["word"] * 50, ended=True))
    assert max(map(len, contexts)) <= 16


def test_a_word_of_ten_thousand_letters_is_spoken_in_parts() -> None:
    phrasing = phrasing_of("x" * 10_000, ended=True)
    contexts = taken(phrasing)
    assert len(contexts) == 209
    assert max(len(" ".join(context)) for context in contexts) < 400


def test_only_the_first_part_begins_the_word_and_only_the_last_closes_it() -> None:
    pieces = split_word(3, "x" * 100 + ".")
    assert [piece.begins_word for piece in pieces] == [True, False, False]
    assert [piece.closes for piece in pieces] == [Break.NONE, Break.NONE, Break.SENTENCE]
    assert {piece.word for piece in pieces} == {3}


@pytest.mark.parametrize(
    ("text", "spoken"),
    [*((each, "") for each in ["—", "...", "\x00", "\ud800", "\u200b", "😀", "*"]),
     ("\x01he\u200bllo!!!!\x00", "hello!")],
)  # fmt: skip
def test_control_characters_and_rows_of_signs_are_taken_out(text: str, spoken: str) -> None:
    """What has no sound is one silent piece."""
    (piece,) = split_word(0, text)
    assert piece.text == spoken


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, Break.NONE) for text in ("word", "(word)", "3.5")),
        *((text, Break.CLAUSE) for text in ("word,", "word;")),
        *((text, Break.SENTENCE) for text in ("word.", 'word."', "word?)", "wait…")),
    ],
)
def test_punctuation_tells_what_follows(text: str, expected: Break) -> None:
    assert closing_break(text) is expected


@given(
    st.lists(st.sampled_from(["a", "the", "end.", "so,", "—", "x" * 60, "river"]), max_size=12),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_contexts_depend_on_the_words_alone(words: list[str], pauses: list[bool]) -> None:
    phrasing, in_parts = Phrasing(), []
    for word, pause in zip(words, pauses, strict=False):
        phrasing.push(word)
        in_parts += taken(phrasing) if pause else []
    phrasing.end()
    assert in_parts + taken(phrasing) == taken(phrasing_of(*words, ended=True))
