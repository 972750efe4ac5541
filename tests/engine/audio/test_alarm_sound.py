"""The alarm's sound: it rises, never clicks, and is not taken for speech."""

import numpy as np
import pytest

from engine.audio.alarm_sound import BURST_S, RISE_S, burst
from engine.audio.finishing import LIMIT
from engine.audio.pcm import level_db
from engine.audio.vad import find_speech


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_it_is_loud_after_a_rise_and_stays_below_the_limit(rate):
    levels = [level_db(burst(after, rate)) for after in (0.0, RISE_S / 2, RISE_S, 500.0)]
    assert levels == sorted(levels)
    assert levels[0] < levels[2] - 10
    assert levels[2] == levels[3] > -12
    assert np.abs(burst(RISE_S, rate)).max() <= LIMIT


def test_no_note_begins_or_ends_with_a_click():
    pcm = burst(RISE_S, 48_000)
    assert pcm[0] == pcm[-1] == 0.0
    notes = pcm.reshape(16, -1)
    assert np.abs(notes[:, :24]).max() < 0.02  # half a millisecond
    assert np.abs(notes[:, -24:]).max() < 0.02


@pytest.mark.parametrize("gain_db", [0.0, -6.0, -20.0, -40.0])
def test_it_is_not_taken_for_speech(gain_db):
    pause = np.zeros(int(1.6 * 16_000), np.float32)
    rings = [np.concatenate((burst(after, 16_000), pause)) for after in np.arange(0, 16, 3.2)]
    assert find_speech(np.concatenate(rings) * 10 ** (gain_db / 20)) == ()
    assert len(rings[0]) == int(BURST_S * 16_000) + len(pause)
