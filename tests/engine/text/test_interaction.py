"""The words people say into somebody else's speech."""

import pytest

from engine.text.interaction import COMMANDS, HALTS, NODDING, NODS, halts, words


def test_nothing_both_halts_and_nods() -> None:
    assert not set(HALTS) & set(NODS)
    assert not COMMANDS & NODDING


@pytest.mark.parametrize("text", [*HALTS, *NODS])
def test_every_text_is_written_as_it_is_looked_up(text: str) -> None:
    assert halts(text) == (text in HALTS)
    assert text == " ".join(text.lower().split())


def test_who_says_more_than_a_halt_asks_for_something_else() -> None:
    assert halts("Wait a moment!")
    assert not halts("Wait a moment, which river?")
    assert not halts("")


def test_words_know_no_case_and_no_punctuation() -> None:
    assert words("It's Stop… NOW!") == {"it's", "stop", "now"}
