"""A pitch is right where there is voice, and drawn through where there is none."""

import numpy as np
import pytest

from engine.training.codec.speech import COLUMNS, UNVOICED_WEIGHT, CorpusUtterance
from engine.training.corpus.utterance import Entry

pytest.importorskip("parselmouth")


def spoken(pcm: np.ndarray, speaker: int = 0) -> CorpusUtterance:
    """Of two phones; the first half is the first one's."""
    entry = Entry(speaker, "", ("m", "ə"), (), (0, len(pcm) // 2), len(pcm), 1, 0, len(pcm))
    return CorpusUtterance(entry, (pcm * 20_000).astype(np.int16))


def buzz(hz: float, seconds: float) -> np.ndarray:
    turns = np.arange(int(24_000 * seconds)) * hz / 24_000
    return np.asarray(sum(np.sin(2 * np.pi * n * turns) / n for n in range(1, 20)) / 3)


def test_a_pitch_is_found_and_drawn_through_silence():
    track = spoken(np.concatenate((buzz(120, 1), np.zeros(24_000), buzz(150, 1)))).pitch
    hz, weight = track[0].exp(), track[1]
    assert len(hz) == 300
    assert float(hz[20:90].mean()) == pytest.approx(120, rel=0.01)
    assert float(hz[210:290].mean()) == pytest.approx(150, rel=0.01)
    assert 120 < float(hz[150]) < 150
    assert float(weight[150]) == pytest.approx(UNVOICED_WEIGHT)
    assert float(weight[50]) == 1.0


def test_a_window_beyond_both_ends_is_silent_and_has_no_pitch_to_learn():
    said = spoken(buzz(120, 1))
    part = said.samples(-100, 24_300)
    assert not part[:100].any()
    assert not part[24_100:].any()
    assert part[100:24_100].std() > 0.1
    track = said.pitch_of(10, 5)  # the utterance has 12.5 frames
    assert track.shape == (2, 5 * COLUMNS)
    assert not track[1, 21:].any()
    assert track[0, 21:].exp().tolist() == pytest.approx([float(track[0, 18].exp())] * 19, rel=0.05)
