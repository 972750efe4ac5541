"""An utterance dies away instead of breaking off."""

import numpy as np
import pytest

from engine.audio.ending import Ending, faded_out
from engine.audio.pcm import level_db
from tests.engine.audio.tone import sine

RATE = 24_000


@pytest.mark.parametrize("samples", [0, 100, 600, 1_920, 9_600])
def test_it_dies_away_within_its_samples(samples: int) -> None:
    pcm = sine(RATE, 0.4)[:samples]
    ended = faded_out(pcm, RATE)
    assert len(ended) == samples
    assert not ended[-240:].any()
    assert np.array_equal(ended[: max(0, samples - 1_200)], pcm[: max(0, samples - 1_200)])


def test_what_breaks_off_goes_on_and_dies_away() -> None:
    ending = Ending(RATE)
    pcm = sine(RATE, 0.4)[:-17]
    for part in (pcm[:5_000], pcm[5_000:]):
        ending.hear(part)
    sound = ending.sound()
    whole = np.concatenate([pcm, sound])
    assert np.abs(np.diff(whole)).max() <= np.abs(np.diff(pcm)).max() * 1.01  # no click
    assert level_db(sound[:240]) > -20
    assert not sound[-240:].any()


def test_of_nothing_comes_nothing_or_silence() -> None:
    assert not len(Ending(RATE).sound())
    assert not Ending(RATE).sound(480).any()
    assert len(Ending(RATE).sound(480)) == 480
