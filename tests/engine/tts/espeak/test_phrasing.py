"""Contexts depend on the words alone, and wait for no more than one word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidInput
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


def test_the_first_word_is_spoken_at_once() -> None:
    assert taken(phrasing_of("The")) == [("[The]", *FILLER)]


def test_a_later_word_waits_for_the_next_one() -> None:
    phrasing = phrasing_of("The", "end")
    assert len(taken(phrasing)) == 1
    phrasing.push("of")
    assert taken(phrasing) == [("The", "[end]", "of", *FILLER)]


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


def test_the_end_of_the_input_is_as_good_as_a_next_word() -> None:
    phrasing = phrasing_of("The", "end")
    taken(phrasing)
    phrasing.end()
    assert taken(phrasing) == [("The", "[end]")]
    assert phrasing.finished


def test_punctuation_closes_a_word_without_waiting() -> None:
    assert taken(phrasing_of("Well,", "yes.")) == [("[Well,]",), ("[yes.]",)]


def test_a_clause_is_not_coloured_by_the_one_before() -> None:
    contexts = taken(phrasing_of("Yes.", "It", "is", "late.", ended=True))
    assert contexts[1] == ("[It]", "is", *FILLER)
    assert contexts[2] == ("It", "[is]", "late.")


def test_a_dash_closes_the_clause_before_it() -> None:
    contexts = taken(phrasing_of("so", "late", "—", "again", ended=True))
    assert contexts[1] == ("so", "[late]")
    assert contexts[3] == ("[again]",)


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


@pytest.mark.parametrize("text", ["—", "...", "\x00", "\ud800", "\u200b", "😀", "*"])
def test_what_has_no_sound_is_one_silent_piece(text: str) -> None:
    (piece,) = split_word(0, text)
    assert piece.text == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("word", Break.NONE),
        ("word,", Break.CLAUSE),
        ("word;", Break.CLAUSE),
        ("word.", Break.SENTENCE),
        ('word."', Break.SENTENCE),
        ("word?)", Break.SENTENCE),
        ("(word)", Break.NONE),
        ("3.5", Break.NONE),
        ("wait…", Break.SENTENCE),
    ],
)
def test_punctuation_tells_what_follows(text: str, expected: Break) -> None:
    assert closing_break(text) is expected


def test_control_characters_and_rows_of_signs_are_taken_out() -> None:
    (piece,) = split_word(0, "\x01he\u200bllo!!!!\x00")
    assert piece.text == "hello!"


@pytest.mark.parametrize("text", ["", " ", "two words", "a\u00a0b"])
def test_what_is_not_one_word_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        phrasing_of(text)


@given(
    st.lists(
        st.sampled_from(["a", "the", "end.", "so,", "—", "x" * 60, "river"]),
        min_size=1,
        max_size=12,
    ),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_contexts_do_not_depend_on_when_the_words_came(
    words: list[str], pauses: list[bool]
) -> None:
    whole = taken(phrasing_of(*words, ended=True))
    phrasing = Phrasing()
    in_parts = []
    for word, pause in zip(words, pauses, strict=False):
        phrasing.push(word)
        in_parts += taken(phrasing) if pause else []
    phrasing.end()
    assert in_parts + taken(phrasing) == whole
