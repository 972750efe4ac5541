"""A pitch is right where there is voice, and drawn through where there is none."""

import numpy as np
import pytest

from engine.training.codec.speech import (
    UNVOICED_WEIGHT,
    CorpusUtterance,
    pitch_track,
)
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
    track = pitch_track(spoken(np.concatenate((buzz(120, 1), np.zeros(24_000), buzz(150, 1)))))
    assert len(track.log_hz) == 300
    assert float(track.log_hz[20:90].exp().mean()) == pytest.approx(120, rel=0.01)
    assert float(track.log_hz[210:290].exp().mean()) == pytest.approx(150, rel=0.01)
    assert 120 < float(track.log_hz[150].exp()) < 150
    assert float(track.weight[150]) == pytest.approx(UNVOICED_WEIGHT)
    assert float(track.weight[50]) == 1.0
