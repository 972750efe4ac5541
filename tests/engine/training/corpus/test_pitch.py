"""Pitch tracks: right where there is voice, drawn through where there is none."""

import numpy as np
import pytest
import torch

from engine.training.codec.speech import COLUMNS, UNVOICED_WEIGHT, Spoken, pitch_track
from engine.training.corpus.shards import Entry

pytest.importorskip("parselmouth")


def spoken(pcm: np.ndarray) -> Spoken:
    entry = Entry(speaker=0, text="", phones=(), starts=(), end=0, marks=(), offset=0,
                  length=len(pcm), syllables=0)  # fmt: skip
    return Spoken(entry, (pcm * 20_000).astype(np.int16))


def buzz(hz: float, seconds: float) -> np.ndarray:
    turns = np.arange(int(24_000 * seconds)) * hz / 24_000
    return np.asarray(sum(np.sin(2 * np.pi * n * turns) / n for n in range(1, 20)) / 3)


def test_a_pitch_is_found_and_drawn_through_silence() -> None:
    track = pitch_track(spoken(np.concatenate((buzz(120, 1), np.zeros(24_000), buzz(150, 1)))))
    assert len(track.log_hz) == 300
    assert float(track.log_hz[20:90].exp().mean()) == pytest.approx(120, rel=0.01)
    assert float(track.log_hz[210:290].exp().mean()) == pytest.approx(150, rel=0.01)
    assert 120 < float(track.log_hz[150].exp()) < 150
    assert float(track.weight[150]) == pytest.approx(UNVOICED_WEIGHT)
    assert float(track.weight[50]) == 1.0


def test_what_has_no_voice_has_a_pitch_that_weighs_little() -> None:
    track = pitch_track(spoken(np.zeros(24_000)))
    assert bool(torch.isfinite(track.log_hz).all())
    assert float(track.weight.max()) == pytest.approx(UNVOICED_WEIGHT)


def test_a_window_is_one_column_ahead_and_goes_on_behind_the_end() -> None:
    track = pitch_track(spoken(buzz(100, 0.8)))
    window = track.window(2, 20)
    assert len(window.log_hz) == len(window.weight) == 20 * COLUMNS
    assert float(window.log_hz[0]) == float(track.log_hz[2 * COLUMNS + 1])
    assert float(window.log_hz[-1]) == float(track.log_hz[-1])
    assert float(window.weight[-1]) == 0.0
