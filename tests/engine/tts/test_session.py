"""The base of sessions, with a system that says a tone for every word."""

import numpy as np
import pytest

from engine.errors import InvalidInput
from engine.tts.base import AudioFrame, Finished, RateRange, Starved
from engine.tts.session import Session
from tests.engine.tts.utterances import drain, push

SECOND = 8_000  # samples


class Tones(Session):
    """A second for every word, from the step after the word on; "-" has no sound."""

    def __init__(self) -> None:
        super().__init__(SECOND, RateRange(2.0, 5.0))
        self._count = 0
        self._silent: list[int] = []
        self._due: list[int] = []

    def _hear(self, word: str | None) -> None:
        if word is not None:
            (self._silent if word == "-" else self._due).append(self._count)
            self._count += 1

    def _make(self) -> bool:
        if not self._due:
            return False
        self._begin_word(self._due.pop(0))
        self._append(np.full(SECOND, 0.25, np.float32))
        self._meter.add(self._made)
        return True

    def _end(self) -> None:
        for word in self._silent:
            self._begin_word(word)
        super()._end()


def test_what_is_made_at_once_comes_in_frames_of_80_ms():
    session = Tones()
    assert session.step() == Starved()
    push(session, ["one", "two"], ended=False)
    frames = drain(session)
    assert session.step() == Starved()
    assert [len(frame.pcm) for frame in frames] == 2 * [*[640] * 12, 320]
    assert [frame.sample for frame in frames if frame.onsets] == [0, SECOND]


def test_a_new_rate_is_measured_behind_what_was_made():
    session = Tones()
    push(session, ["one"] * 8, ended=False)
    session.rate = 4.0
    for _ in range(5 * 13):
        session.step()
    session.rate = 3.0
    assert [frame.rate for frame in drain(session)][-1] is None
    session.rate = 4.0
    push(session, ["one"] * 8)
    last = drain(session)[-1]
    assert (last.rate, last.mean) == (pytest.approx(1.0), pytest.approx(1.0))


def test_the_end_fades_and_words_without_a_sound_begin_in_it():
    session = Tones()
    push(session, ["one", "-", "-"])
    last = drain(session)[-1]
    assert session.step() == Finished()
    assert [(onset.word, onset.sample) for onset in last.onsets] == [(1, SECOND), (2, SECOND)]
    assert len(last.pcm) == 640
    assert last.pcm[0] > 0.2
    assert last.pcm[-80:].max() == 0.0


def test_an_utterance_without_a_sound_is_silence():
    session = Tones()
    push(session, ["-"])
    (frame,) = drain(session)
    assert len(frame.onsets) == 1
    assert not frame.pcm.any()


def test_a_rate_is_clamped_and_must_be_a_number():
    session = Tones()
    session.rate = 9.0
    assert session.rate == 5.0
    for rate in (np.nan, np.inf):
        with pytest.raises(InvalidInput, match="cannot be spoken"):
            session.rate = rate


def test_a_closed_session_is_finished_and_takes_no_word():
    session = Tones()
    push(session, ["one"], ended=False)
    assert isinstance(session.step(), AudioFrame)
    session.close()
    assert session.step() == Finished()
    with pytest.raises(InvalidInput, match="end of an utterance"):
        session.push_word("two")
