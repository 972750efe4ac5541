"""Windows: what is cut on the device is what lies in an utterance, sound, slots and pitch."""

import random

import numpy as np
import pytest
import torch

from engine.codec.mimi import FRAME_SAMPLES
from engine.training.codec.speech import AHEAD, SLOT, Spoken, Windows, pitch_track
from engine.training.corpus.shards import Entry

FRAMES, LEAD = 2, 3
LENGTHS = (4 * FRAME_SAMPLES + 77, FRAME_SAMPLES, 3 * FRAME_SAMPLES)  # one fills no window


def utterance(number: int) -> Spoken:
    length = LENGTHS[number]
    hum = np.sin(np.arange(length) * 2 * np.pi * (110 + 60 * number) / 24_000)
    noise = np.random.default_rng(number).normal(0, 0.05, length)
    pcm = (8000 * (hum + noise)).astype(np.int16)
    entry = Entry(number, "", ("m", "ə"), (), (0, length // 2), length, 1, 0, length)
    return Spoken(entry, pcm)


@pytest.fixture(scope="module")
def side() -> tuple[Spoken, ...]:
    return tuple(map(utterance, range(len(LENGTHS))))


@pytest.fixture(scope="module")
def windows(side: tuple[Spoken, ...]) -> Windows:
    return Windows(side, FRAMES, LEAD, torch.device("cpu"))


def places(side: tuple[Spoken, ...], speaker: int, pcm: torch.Tensor) -> list[int]:
    """The slots of an utterance at which a window with its lead begins."""
    whole = side[speaker]
    return [
        slot
        for slot in range(-(-len(whole.pcm) // SLOT))
        if torch.equal(
            torch.cat(
                [
                    whole.samples(max(0, (slot - n) * SLOT), SLOT) * (slot >= n)
                    for n in range(LEAD, 0, -1)
                ]
                + [whole.samples(slot * SLOT, FRAMES * FRAME_SAMPLES)]
            ),
            pcm,
        )
    ]


def test_a_window_is_a_piece_of_its_speaker_s_utterance(
    side: tuple[Spoken, ...], windows: Windows
) -> None:
    cut = windows.cut(random.Random(1), 40)
    assert set(cut.speakers.tolist()) == {0, 1, 2}
    for row, speaker in enumerate(cut.speakers.tolist()):
        (slot,) = places(side, speaker, cut.pcm[row])
        sounds = side[speaker].slots(slot * SLOT, FRAMES * FRAME_SAMPLES)
        assert torch.equal(cut.slots[row], sounds)
        track = pitch_track(side[speaker]).log_hz
        columns = 2 * slot + AHEAD + torch.arange(cut.track.log_hz.shape[1])
        assert torch.equal(cut.track.log_hz[row], track[columns.clamp(max=len(track) - 1)])


def test_the_same_draw_cuts_the_same_windows(windows: Windows) -> None:
    one, other = (windows.cut(random.Random(2), 5).pcm for _ in range(2))
    assert torch.equal(one, other)
