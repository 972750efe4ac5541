"""Duration tokens: a walk the alignment cursor can repeat."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.codec.mimi import FRAME_SAMPLES
from engine.training.voice.frames import spans, walk
from engine.tts.voxtream.alignment import AlignmentCursor
from engine.tts.voxtream.config import DURATION_TOKENS, GENERATION


def starts_of(lengths: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(lengths[:-1]))).astype(np.int64)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(900, 9000), min_size=2, max_size=40))
def test_the_cursor_walks_the_tokens_to_the_last_phone(lengths: list[int]) -> None:
    frames = -(-sum(lengths) // FRAME_SAMPLES)
    found = walk(starts_of(lengths), frames, DURATION_TOKENS)
    cursor = AlignmentCursor(-1, DURATION_TOKENS, GENERATION)
    for token, first, last in zip(found, *spans(found).T, strict=True):
        span = cursor.advance(int(token), len(lengths), closed=False)
        assert (span.first, span.last) == (first, last)
    assert cursor.last == len(lengths) - 1


@pytest.mark.parametrize(
    ("lengths", "frames", "spoken"),
    [([1920, 3840, 1920], 4, [[0, 0], [1, 1], [1, 1], [2, 2]]), ([960] * 4, 2, [[0, 1], [2, 3]])],
)
def test_each_frame_speaks_the_phones_that_sound_in_it(
    lengths: list[int], frames: int, spoken: list[list[int]]
) -> None:
    found = walk(starts_of(lengths), frames, DURATION_TOKENS)
    assert spans(found).tolist() == spoken


def test_more_phones_than_frames_can_speak_have_no_walk() -> None:
    assert walk(starts_of([100] * 20), 2, DURATION_TOKENS) is None
