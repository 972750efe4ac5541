"""A piece is found in the speech of its context, also where espeak joins words."""

from collections.abc import Iterator

import numpy as np
import pytest

from engine.tts.espeak.cutting import cut
from engine.tts.espeak.library import Espeak, PhoneMark, Speech, WordMark
from engine.tts.espeak.phrasing import Context


@pytest.fixture
def espeak() -> Iterator[Espeak]:
    claimed = Espeak.claim()
    yield claimed
    claimed.release()


def speech(words: list[tuple[int, int]], phones: list[tuple[int, str]], length: int) -> Speech:
    return Speech(
        np.zeros(length, np.float32),
        tuple(WordMark(*mark) for mark in words),
        tuple(PhoneMark(*mark) for mark in phones),
    )


def spans(of: Speech, *tokens: str) -> list[tuple[int, int] | None]:
    found = [cut(of, Context(tokens, place)) for place in range(len(tokens))]
    return [None if piece is None else (piece.span.start, piece.span.end) for piece in found]


def test_every_word_lasts_until_the_next_begins_and_the_last_until_its_last_phone_ends() -> None:
    made = speech([(0, 0), (3, 500)], [(0, "h"), (100, "a"), (500, "b"), (800, ""), (990, "")], 990)
    assert spans(made, "ah", "bee") == [(0, 500), (500, 800)]


def test_syllables_are_counted_from_the_start_of_the_piece() -> None:
    made = speech(
        [(0, 0), (3, 500)], [(0, "h"), (100, "a"), (500, "b"), (600, "i"), (800, "")], 990
    )
    piece = cut(made, Context(("ah", "bee"), 1))
    assert piece is not None
    assert piece.syllables == (300,)


def test_words_joined_without_a_mark_are_divided_at_a_phone() -> None:
    phones = [(0, "ʌ"), (100, "v"), (200, "ð"), (300, "ə"), (400, "ɛ"), (500, "")]
    made = speech([(0, 0), (7, 400)], phones, 500)
    first, second, third = spans(made, "of", "the", "end")
    assert first is not None
    assert second is not None
    assert first[1] == second[0]
    assert first[1] in (100, 200)
    assert third == (400, 500)


def test_marks_espeak_puts_inside_the_first_of_joined_words_belong_to_the_others() -> None:
    made = speech([(0, 0), (1, 300), (8, 600)], [(0, "s"), (300, "ə"), (600, "i"), (900, "")], 900)
    assert spans(made, "such", "as", "it") == [(0, 300), (300, 600), (600, 900)]


def test_a_word_of_several_spoken_words_is_one_piece() -> None:
    made = speech([(0, 0), (1, 200), (4, 500)], [(0, "θ"), (200, "p"), (500, "a"), (700, "")], 700)
    assert spans(made, "3.1", "a") == [(0, 500), (500, 700)]


def test_a_word_espeak_says_nothing_for_is_none() -> None:
    assert spans(speech([], [], 0), "\ue000") == [None]
    made = speech([(0, 0)], [(0, "a"), (300, "")], 300)
    assert spans(made, "ah", "mute")[0] is not None


@pytest.mark.parametrize(
    "text",
    [
        "the end of the story such as it is",
        "it is one of the best",
        "in the end we had to be at the top",
    ],
)
def test_consecutive_words_lose_and_repeat_nothing_of_real_speech(
    espeak: Espeak, text: str
) -> None:
    tokens = text.split()
    made = espeak.speak(text, voice="alan", words_per_minute=175)
    found = spans(made, *tokens)
    ends = [0]
    for span in found:
        assert span is not None
        assert span[0] == ends[-1]
        ends.append(span[1])


@pytest.mark.parametrize(
    ("text", "syllables"),
    [
        ("strength", 1),
        ("river", 2),
        ("button", 2),
        ("syllable", 3),
        ("electricity", 5),
        ("banana", 3),
    ],
)
def test_syllables_of_real_words(espeak: Espeak, text: str, syllables: int) -> None:
    made = espeak.speak(text, voice="alan", words_per_minute=175)
    piece = cut(made, Context((text,), 0))
    assert piece is not None
    assert len(piece.syllables) == syllables
