"""The cursor: forward only, out of loops, and to the end exactly once."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from engine.tts.voxtream.config import DURATION_TOKENS, GENERATION
from engine.tts.voxtream.script import AlignmentCursor, Span

STAY_ONE, STAY_TWO, NEXT_ONE, NEXT_TWO, SKIP_ONE, SKIP_TWO = range(6)


def cursor(start: int = 0) -> AlignmentCursor:
    return AlignmentCursor(start, DURATION_TOKENS, GENERATION)


def test_the_last_phones_are_repeated_three_times_once_no_more_text_may_come():
    walk = cursor(9)
    assert not any(walk.advance(STAY_ONE, 10, closed=False).ended for _ in range(60))
    assert walk.advance(STAY_ONE, 10, closed=True).ended  # visits from before count
    walk = cursor(9)
    spans = [walk.advance(STAY_ONE, 10, closed=True) for _ in range(4)]
    assert spans[:3] == [Span(9, 9)] * 3
    assert spans[3].ended


def test_inside_the_text_a_phone_is_left_after_twenty_six_visits():
    walk = cursor(5)
    spans = [walk.advance(STAY_ONE, 40, closed=True) for _ in range(27)]
    assert spans[25] == Span(5, 5)
    assert spans[26] == Span(6, 6)


@given(tokens=st.lists(st.integers(0, 5), min_size=1, max_size=300), length=st.integers(3, 60))
def test_it_never_goes_back_and_stays_in_the_rows(tokens, length):
    walk = cursor()
    last = 0
    for token in tokens:
        span = walk.advance(token, length, closed=True)
        assert last <= span.first <= span.last <= length + 1
        last = span.last
        if span.ended:
            break


@given(token=st.integers(0, 5), length=st.integers(3, 30))
def test_any_token_for_ever_reaches_the_end(token, length):
    walk = cursor()
    assert any(walk.advance(token, length, closed=True).ended for _ in range(27 * 2 * length))


def test_a_sound_inside_a_word_is_left_sooner_than_one_at_its_end():
    generation = replace(GENERATION, frames_in_word=4)
    inside, at_end = (AlignmentCursor(5, DURATION_TOKENS, generation) for _ in range(2))
    spans = [inside.advance(STAY_ONE, 40, closed=True, inside_word=True) for _ in range(5)]
    assert spans == [Span(5, 5)] * 4 + [Span(6, 6)]
    assert {at_end.advance(STAY_ONE, 40, closed=True) for _ in range(20)} == {Span(5, 5)}


def test_two_phones_in_turn_are_left_too():
    walk = AlignmentCursor(5, DURATION_TOKENS, replace(GENERATION, frames_in_word=4))
    spans = [walk.advance(STAY_ONE, 40, closed=True, inside_word=True) for _ in range(4)]
    assert walk.advance(STAY_TWO, 40, closed=True, inside_word=True).first == 6
    assert spans[-1] == Span(5, 5)
