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


def test_a_word_lasts_as_long_as_its_samples() -> None:
    delivery = Delivery(WORDS, 1_200.0, 0, ONSETS_MS)
    assert times(delivered(delivery, told(10.0, 10.4, 10.7), 9.0)) == [
        (1.0, 1.4),
        (1.4, 1.7),
        (1.7, 2.2),
    ]


def test_a_pause_in_which_the_ring_was_empty_belongs_to_no_word() -> None:
    delivery = Delivery(WORDS, 1_200.0, 0, ONSETS_MS)
    assert times(delivered(delivery, told(10.0, 12.0, 12.3), 10.0))[:2] == [(0.0, 0.4), (2.0, 2.3)]


def test_a_word_told_early_ends_the_one_before_it() -> None:
    delivery = Delivery(WORDS, 1_200.0, 0, ONSETS_MS)
    assert times(delivered(delivery, told(10.0, 10.35, 10.7), 10.0))[0] == (0.0, 0.35)


def test_words_of_a_device_that_plays_in_bursts_are_in_order() -> None:
    delivery = Delivery(WORDS, 1_200.0, 0, ONSETS_MS)
    starts = [start for start, _ in times(delivered(delivery, told(10.0, 9.8, 10.7), 9.0))]
    assert starts == [1.0, 1.0, 1.7]


def test_the_last_word_before_a_cut_is_there_for_as_long_as_it_was_heard() -> None:
    delivery = Delivery(WORDS[:2], 450.0, 0, ONSETS_MS[:2])
    words = delivered(delivery, told(10.0), 10.0)
    assert [word.text for word in words] == ["One", "two"]
    assert times(words) == [(0.0, 0.4), (0.4, 0.45)]


def test_of_a_reply_nobody_heard_there_is_no_word() -> None:
    assert delivered(Delivery(), [], 10.0) == ()
    assert so_far([], 10.0) == ()


def test_while_a_reply_goes_on_a_word_lasts_until_the_next() -> None:
    assert times(so_far(told(10.0, 10.4), 10.0)) == [(0.0, 0.4), (0.4, 0.4)]


def test_the_words_know_their_place_in_the_reply() -> None:
    (word,) = so_far(told(10.0), 10.0)
    assert (word.text, word.start, word.end) == ("One", 0, 3)
    assert word.start_s == pytest.approx(0.0)
