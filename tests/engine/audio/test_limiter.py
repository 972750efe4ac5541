"""What is too loud becomes quieter; all else stays as it is, however it comes."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio.finishing import LIMIT, Limiter

RATE = 8_000


def loud(times: float, seed: int = 0) -> np.ndarray:
    """A second of bursts such as syllables make, up to `times` full scale."""
    noise = np.random.default_rng(seed).uniform(-1, 1, RATE)
    return (times * noise * np.hanning(RATE // 5).repeat(5)).astype(np.float32)


def test_what_stays_below_the_limit_is_left_as_it_is():
    pcm = loud(0.89)
    assert Limiter(RATE).limit(pcm, 0) is pcm


def test_a_voice_ten_times_too_loud_is_neither_cut_off_nor_louder_than_the_limit():
    limited = Limiter(RATE).limit(loud(10), 0)
    assert np.abs(limited).max() <= LIMIT
    assert np.mean(np.abs(limited) > 0.99 * LIMIT) < 0.05
    assert np.sqrt(np.mean(np.square(limited))) < 0.5


def test_behind_what_was_too_loud_the_sound_recovers():
    limiter = Limiter(RATE)
    limiter.limit(loud(10), 0)
    quiet = np.full(RATE, 0.1, np.float32)
    after = limiter.limit(quiet, RATE)
    assert np.all(np.diff(after) >= -1e-7)
    assert after[0] < 0.06
    assert after[-1] == np.float32(0.1)
    assert limiter.limit(quiet, 2 * RATE) is quiet


@settings(max_examples=30)
@given(st.lists(st.integers(1, RATE - 1), max_size=6), st.integers(0, 9))
def test_frames_of_any_size_and_what_is_made_again_are_limited_the_same(cuts, seed):
    pcm = loud(3, seed)
    whole = Limiter(RATE).limit(pcm, 0)
    limiter, edges = Limiter(RATE), [0, *sorted(cuts), RATE]
    limiter.limit(loud(20, seed + 1), 0)  # and taken back
    pieces = [limiter.limit(pcm[a:b], a) for a, b in pairwise(edges)]
    assert np.array_equal(np.concatenate(pieces), whole)
    middle = edges[len(edges) // 2]
    assert np.array_equal(limiter.limit(pcm[middle:], middle), whole[middle:])


def test_what_is_no_number_is_silent():
    limited = Limiter(RATE).limit(np.array([0.1, np.nan, np.inf, -np.inf, 0.1], np.float32), 0)
    assert np.isfinite(limited).all()
    assert limited[1] == 0
    assert np.abs(limited).max() <= LIMIT
