"""When words were heard: in order, without the pauses, and only those that were heard."""

import pytest

from engine.runtime.turn.facts import Delivery, WordBegan
from engine.runtime.turn.word_times import delivered, so_far
from engine.text.word import Word

WORDS = (Word("One", 0, 3), Word("two", 4, 7), Word("three.", 8, 14))
ONSETS_MS = (0.0, 400.0, 700.0)


def told(*at: float) -> list[WordBegan]:
    return [WordBegan(1, word, when) for word, when in zip(WORDS, at, strict=False)]


def times(words) -> list[tuple[float, float]]:
    return [(round(word.start_s, 3), round(word.end_s, 3)) for word in words]


@pytest.mark.parametrize(
    ("told_at", "expected"),
    [
        pytest.param((10, 10.4, 10.7), [(1, 1.4), (1.4, 1.7), (1.7, 2.2)], id="by its samples"),
        pytest.param((10, 12, 12.3), [(1, 1.4), (3, 3.3), (3.3, 3.8)], id="pause of an empty ring"),
        pytest.param((10, 10.35, 10.7), [(1, 1.35), (1.35, 1.65), (1.7, 2.2)], id="told early"),
        pytest.param((10, 9.8, 10.7), [(1, 1), (1, 1.3), (1.7, 2.2)], id="device of bursts"),
    ],
)
def test_words_are_in_order_and_last_as_long_as_they_are_heard(told_at, expected):
    delivery = Delivery(WORDS, 1_200.0, 0, ONSETS_MS)
    assert times(delivered(delivery, told(*told_at), 9.0)) == expected


def test_the_last_word_before_a_cut_is_there_for_as_long_as_it_was_heard():
    delivery = Delivery(WORDS[:2], 450.0, 0, ONSETS_MS[:2])
    words = delivered(delivery, told(10.0), 10.0)
    assert [(word.text, word.start, word.end) for word in words] == [("One", 0, 3), ("two", 4, 7)]
    assert times(words) == [(0.0, 0.4), (0.4, 0.45)]
    assert delivered(Delivery(), [], 10.0) == ()  # nobody heard it


def test_while_a_reply_goes_on_a_word_lasts_until_the_next():
    assert times(so_far(told(10.0, 10.4), 10.0)) == [(0.0, 0.4), (0.4, 0.4)]
    assert so_far([], 10.0) == ()
