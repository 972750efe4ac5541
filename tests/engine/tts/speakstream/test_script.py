"""Windows as the paper prints them."""

import pytest

from engine.tts.speakstream.script import Window, window, windows


@pytest.mark.parametrize("words", range(9))
@pytest.mark.parametrize(("size", "hop"), [(1, 1), (3, 1), (3, 2), (3, 3), (5, 2)])
def test_a_window_that_reads_a_word_speaks_it_once(words: int, size: int, hop: int) -> None:
    found = windows(words, size, hop)
    assert [w for each in found for w in range(each.first, each.spoken_end)] == list(range(words))
    assert all(each.spoken_end <= each.read_end <= each.first + size for each in found)
    if (words, size, hop) == (8, 3, 2):  # III-C, scheme 1; its words count from 1
        assert found == [Window(0, 3, 2), Window(2, 5, 4), Window(4, 7, 6), Window(6, 8, 8)]


def test_a_window_waits_for_its_words_alone() -> None:
    assert window(0, 3, 1, 2, ended=False) is None
    assert window(0, 3, 1, 3, ended=False) == window(0, 3, 1, 9, ended=False) == Window(0, 3, 1)
    assert window(2, 3, 1, 3, ended=True) == Window(2, 3, 3)
    assert window(3, 3, 1, 3, ended=True) is None
