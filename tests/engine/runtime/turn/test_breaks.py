"""Pauses that a text asks for: as long as asked, wherever they stand and whatever is taken back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audio.base import Pcm
from engine.runtime.turn.breaks import Breaks
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Onset, Starved, Step
from tests.help.fakes.tts import SAMPLE_RATE, FakeSession

SPOKEN = 1_000  # samples of a word
FRAME = 300


class WordSession(FakeSession):
    """Every word is a constant level behind a silence, and any words can be taken back. `late`:
    so many samples of a word sound before the onset that is reported.
    """

    def __init__(self, silence: int = 0, late: int = 0) -> None:
        super().__init__(0, lambda text: None)
        self._silence, self._late = silence, late
        self._at = 0

    def step(self) -> Step:
        length = (self._silence + SPOKEN) * len(self._waiting)
        if self._at >= length:
            return Finished() if self._ended else Starved()
        begin, self._at = self._at, min(self._at + FRAME, length)
        onsets = tuple(
            Onset(word, place)
            for word in range(len(self._waiting))
            if begin <= (place := self._onset(word)) < self._at
        )
        return AudioFrame(self._pcm_of(begin, self._at), begin, onsets)

    def rewind(self, sample: int) -> int | None:
        words = range(len(self._waiting))
        end = next((place for place in map(self._onset, words) if place >= sample), None)
        if end is None or end >= self._at:
            return None
        self._at = end
        return end

    def _onset(self, word: int) -> int:
        return word * (self._silence + SPOKEN) + self._silence + self._late

    def _pcm_of(self, begin: int, end: int) -> Pcm:
        sounds = np.arange(begin, end) % (self._silence + SPOKEN) >= self._silence
        return np.where(sounds, 0.5, 0.0).astype(np.float32)


def opened(pauses: list[float], silence: int = 0) -> Breaks:
    speech = Breaks(WordSession(silence), SAMPLE_RATE)
    for pause_s in pauses:
        speech.push(Word("go", 0, 1, pause_s=pause_s))
    speech.end_input()
    return speech


def frames_of(speech: Breaks) -> list[AudioFrame]:
    frames = []
    while isinstance(step := speech.step(), AudioFrame):
        frames.append(step)
    return frames


def joined(frames: list[AudioFrame], start: int = 0) -> tuple[Pcm, list[Onset]]:
    """The samples and onsets of frames that follow one another."""
    for frame in frames:
        assert frame.sample == start
        start += len(frame.pcm)
        assert all(frame.sample <= onset.sample < start for onset in frame.onsets)
        assert len(frame.pcm) <= SAMPLE_RATE // 5  # no frame is far ahead of the ear
    onsets = [onset for frame in frames for onset in frame.onsets]
    return np.concatenate([frame.pcm for frame in frames]), onsets


@pytest.mark.parametrize(
    ("silence", "pauses", "added"),
    [
        (0, [0.0, 0.0, 0.0], [0, 0, 0]),
        (0, [0.0, 1.0, 0.0], [0, SAMPLE_RATE, 0]),
        (0, [2.0, 0.0, 0.3], [2 * SAMPLE_RATE, 0, SAMPLE_RATE * 3 // 10]),
        (800, [0.0, 1.0, 0.05], [0, SAMPLE_RATE - 800, 0]),  # a part of it is there
        (800, [1.0, 0.0, 0.0], [SAMPLE_RATE - 800, 0, 0]),
    ],
)
def test_a_pause_is_as_long_as_asked_and_neither_begins_nor_ends_with_a_step(
    silence, pauses, added
):
    pcm, onsets = joined(frames_of(opened(pauses, silence)))
    plain, places = joined(frames_of(opened([0.0] * len(pauses), silence)))
    assert len(pcm) == len(plain) + sum(added)
    moved = np.cumsum(added)
    assert [each.sample for each in onsets] == [
        each.sample + int(more) for each, more in zip(places, moved, strict=True)
    ]
    for onset, more in zip(onsets, added, strict=True):
        quiet = pcm[max(0, onset.sample - more) : onset.sample]
        assert np.abs(quiet[SAMPLE_RATE // 100 :]).max(initial=0) == 0
        if more:
            around = pcm[max(0, onset.sample - more - 5) : onset.sample + 5]
            assert np.abs(np.diff(around)).max() < 0.02


@pytest.mark.parametrize("late", [0, 100, 500])
def test_a_word_that_sounds_before_its_onset_is_not_torn_from_its_beginning(late):
    speech = Breaks(WordSession(400, late), SAMPLE_RATE)
    for pause_s in (0.0, 1.0):
        speech.push(Word("go.", 0, 1, pause_s=pause_s))
    speech.end_input()
    pcm, _ = joined(frames_of(speech))
    loud = np.flatnonzero(pcm > 0)
    assert np.diff(loud).max() == SAMPLE_RATE + 1
    assert list(loud[[0, SPOKEN - 1, SPOKEN]]) == [400, 1399, 1400 + SAMPLE_RATE]


@given(
    pauses=st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.4]), min_size=2, max_size=6),
    steps=st.integers(1, 40),
    back=st.integers(0, 6_000),
    silence=st.sampled_from([0, 600]),
)
def test_speech_that_is_taken_back_is_made_again_with_its_pauses(pauses, steps, back, silence):
    expected, onsets = joined(frames_of(opened(pauses, silence)))
    speech = opened(pauses, silence)
    made = [step for _ in range(steps) if isinstance(step := speech.step(), AudioFrame)]
    known, _ = joined(made)
    asked = max(0, len(known) - back)
    end = speech.rewind(asked)
    again = frames_of(speech)
    begin = len(known) if end is None else min(end, len(known))
    assert begin >= asked
    if again:
        more, found = joined(again, begin)
        assert [onset for onset in onsets if onset.sample < begin] + found == onsets
        assert begin + len(more) == len(expected)
    else:
        assert begin == len(expected)
