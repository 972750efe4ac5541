"""Speech in memory: windows cut on the device are pieces of utterances, with slots and pitch; a
pitch is right where there is voice, and drawn through where there is none."""

import random

import numpy as np
import pytest
import torch

from engine.codec.mimi import FRAME_SAMPLES
from engine.training.codec.speech import (
    AHEAD,
    SLOT,
    UNVOICED_WEIGHT,
    Spoken,
    Windows,
    pitch_track,
)
from engine.training.corpus.shards import Entry

FRAMES, LEAD = 2, 3
LENGTHS = (4 * FRAME_SAMPLES + 77, FRAME_SAMPLES, 3 * FRAME_SAMPLES)  # one fills no window


pytest.importorskip("parselmouth")


def utterance(number: int) -> Spoken:
    hum = np.sin(np.arange(LENGTHS[number]) * 2 * np.pi * (110 + 60 * number) / 24_000)
    noise = np.random.default_rng(number).normal(0, 0.05, LENGTHS[number])
    return spoken(0.4 * (hum + noise), number)


@pytest.fixture(scope="module")
def side() -> tuple[Spoken, ...]:
    return tuple(map(utterance, range(len(LENGTHS))))


@pytest.fixture(scope="module")
def windows(side) -> Windows:
    return Windows(side, FRAMES, LEAD, torch.device("cpu"))


def places(side: tuple[Spoken, ...], speaker: int, pcm: torch.Tensor) -> list[int]:
    """The slots of an utterance at which a window with its lead begins."""
    whole = side[speaker]

    def cut(slot: int) -> torch.Tensor:
        lead = [
            whole.samples(max(0, before * SLOT), SLOT) * (before >= 0)
            for before in range(slot - LEAD, slot)
        ]
        return torch.cat([*lead, whole.samples(slot * SLOT, FRAMES * FRAME_SAMPLES)])

    return [slot for slot in range(-(-len(whole.pcm) // SLOT)) if torch.equal(cut(slot), pcm)]


def test_a_window_is_a_piece_of_its_speaker_s_utterance(side, windows):
    cut = windows.cut(random.Random(1), 40)
    assert set(cut.speakers.tolist()) == {0, 1, 2}
    for row, speaker in enumerate(cut.speakers.tolist()):
        (slot,) = places(side, speaker, cut.pcm[row])
        sounds = side[speaker].slots(slot * SLOT, FRAMES * FRAME_SAMPLES)
        assert torch.equal(cut.slots[row], sounds)
        track = pitch_track(side[speaker]).log_hz
        columns = 2 * slot + AHEAD + torch.arange(cut.track.log_hz.shape[1])
        assert torch.equal(cut.track.log_hz[row], track[columns.clamp(max=len(track) - 1)])
        assert not cut.track.weight[row][columns >= len(track)].any()  # behind the end


def spoken(pcm: np.ndarray, speaker: int = 0) -> Spoken:
    """Of two phones; the first half is the first one's."""
    entry = Entry(speaker, "", ("m", "ə"), (), (0, len(pcm) // 2), len(pcm), 1, 0, len(pcm))
    return Spoken(entry, (pcm * 20_000).astype(np.int16))


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
