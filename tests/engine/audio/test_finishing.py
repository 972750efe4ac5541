"""The finish of an utterance: no sound is too loud or clipped, and no silence too long."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio.finishing import LIMIT, Limiter, SilenceLimit
from engine.audio.pcm import Pcm

RATE = 8_000
FRAME = RATE * 80 // 1000
BLOCK = RATE // 100
LOUD = 0.1


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


def heard(limit: SilenceLimit, pcm: Pcm, speed: float) -> Pcm:
    """What is left of the samples, in frames."""
    frames = pcm.reshape(-1, FRAME)
    return np.concatenate([frame for frame in frames if not limit.exceeds(frame, speed)])


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 400)), min_size=2, max_size=6),
    st.floats(0.33, 2.2),
    st.floats(0.0, 0.02),
)
def test_no_silence_is_long_and_every_sound_is_heard(parts, speed, noise):
    """`parts`: blocks of 10 ms of sound, and of silence behind them with a noise of the codec."""
    loud = np.concatenate([np.repeat([1.0, noise], part) for part in parts])
    loud = np.concatenate([loud, np.full(-len(loud) % 8, noise)])
    pcm = (LOUD * np.repeat(loud, BLOCK)).astype(np.float32)
    left = heard(SilenceLimit(RATE), pcm, speed)
    sounding = np.flatnonzero(left == np.float32(LOUD))
    assert len(sounding) == np.count_nonzero(loud == 1.0) * BLOCK
    assert np.diff(sounding).max() / RATE / speed <= 1.2


def test_a_pause_that_is_not_long_and_a_soft_sound_stay():
    pcm = np.repeat([0.3, 0.0, 0.3, 0.01, 0.3], 8 * FRAME).astype(np.float32)
    assert np.array_equal(heard(SilenceLimit(RATE), pcm, 1.0), pcm)
