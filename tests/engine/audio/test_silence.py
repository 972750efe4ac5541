"""A silence within speech is shortened, and no sound is left out."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio.finishing import SilenceLimit
from engine.audio.pcm import Pcm

RATE = 8_000
FRAME = RATE * 80 // 1000
BLOCK = RATE // 100
LOUD = 0.1


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
