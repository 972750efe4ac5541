"""The base of all sessions: its queue, its rate, and how rates are measured."""

import random
from collections.abc import Iterable

import numpy as np
import pytest

from engine.tts.base import AudioFrame, Finished, RateRange, Starved
from engine.tts.rate import SyllableMeter
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


class Uneven(Tones):
    """Words of 1 to 5 syllables of different lengths at any rate, and pauses between some of them.
    `places`: begin and end of each syllable.
    """

    def __init__(self, draw: random.Random) -> None:
        super().__init__()
        self._draw = draw
        self.places: list[tuple[int, int]] = []

    def _make(self) -> bool:
        if not self._due:
            return False
        draw, length = self._draw, SECOND / (self.rate or 4.0)
        if draw.random() < 0.2:
            self._append(np.zeros(round(draw.uniform(0.5, 2) * length), np.float32))
        self._begin_word(self._due.pop(0))
        for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 5))):
            begin = self._made
            self._append(np.full(round(draw.uniform(0.4, 1.8) * length), 0.25, np.float32))
            self._meter.add(self._made)
            self.places.append((begin, self._made))
        return True

    def true_rate(self, moved: int, now: int) -> float:
        """Return the SPS of what sounds between two samples, without a silence at its end."""
        sounding = [place for place in self.places if place[0] < now and place[1] > moved]
        parts = [(min(end, now) - max(begin, moved)) / (end - begin) for begin, end in sounding]
        return sum(parts) * SECOND / (min(now, sounding[-1][1]) - moved)


@pytest.mark.parametrize("seed", range(3))
def test_two_seconds_after_a_move_the_rate_is_that_of_the_speech_since_it_is_heard(seed):
    draw = random.Random(seed)
    session = Uneven(draw)
    push(session, ["one"] * 300, ended=False)
    for _ in range(12):
        session.rate = draw.uniform(3.0, 5.0)
        moved = session._made
        while isinstance(frame := session.step(), AudioFrame) and frame.sample < moved + 2 * SECOND:
            pass
        assert isinstance(frame, AudioFrame)
        now = frame.sample + len(frame.pcm) // 2
        assert frame.rate == pytest.approx(session.true_rate(moved, now), rel=0.05)
    session.end_input()
    frames = drain(session)
    last = session.places[-1][1]
    assert frames[-1].mean == pytest.approx(session.true_rate(session.places[0][0], last), rel=0.01)


def test_directly_after_a_move_no_rate_is_measured():
    session = Tones()
    push(session, ["one"] * 3, ended=False)
    session.rate = 4.0
    assert [frame.rate for frame in drain(session)][-1] == pytest.approx(1.0)
    session.rate = 3.0
    push(session, ["one"])
    last = drain(session)[-1]
    assert last.rate is None
    assert last.mean == pytest.approx(1.0)


def test_the_end_fades_and_words_without_a_sound_begin_in_it():
    session = Tones()
    push(session, ["one", "-", "-"])
    last = drain(session)[-1]
    assert session.step() == Finished()
    assert [(onset.word, onset.sample) for onset in last.onsets] == [(1, SECOND), (2, SECOND)]
    assert len(last.pcm) == 640
    assert last.pcm[0] > 0.2
    assert last.pcm[-80:].max() == 0.0


def test_it_counts_syllables_over_its_window():
    meter = SyllableMeter(12.5, window=10)
    assert meter.recent_rate(1) is None
    meter.add(1)
    assert meter.recent_rate(2) == pytest.approx(1 / 0.16)
    assert meter.recent_rate(11) == pytest.approx(1 / 0.8)
    assert meter.recent_rate(12) == 0.0


def metered(meter: SyllableMeter, ends: Iterable[float], now: float) -> list[float | None]:
    """Rates since the last change and over the utterance, after syllables that end at `ends` s."""
    for end in ends:
        meter.add(round(end * 1000))
    return [None if each is None else round(each, 2) for each in meter.rates(round(now * 1000))]


def test_the_rate_is_that_of_the_speech_without_the_silence_around_it():
    meter = SyllableMeter(1000)
    meter.restart(0)
    meter.begin_word(500)
    assert metered(meter, 0.5 + np.arange(1, 21) / 5, 4.5) == [5.0, 5.0]
    assert metered(meter, (), 9.0) == [5.0, 5.0]


def test_a_pause_counts_when_the_next_word_begins():
    meter = SyllableMeter(1000)
    assert metered(meter, np.arange(1, 11) / 5, 3.0) == [5.0, 5.0]
    meter.begin_word(3000)
    assert metered(meter, 3 + np.arange(1, 11) / 5, 3.1) == [round(10.5 / 3.1, 2)] * 2
    assert metered(meter, (), 5.0) == [4.0, 4.0]


def test_a_syllable_whose_end_is_only_expected_counts_as_far_as_it_sounds():
    meter = SyllableMeter(1000)
    metered(meter, (0.5, 1.0, 1.5), 1.5)
    meter.expect(2500)
    assert metered(meter, (), 2.0) == [1.75, 1.75]
    assert metered(meter, (2.1,), 2.1) == [round(4 / 2.1, 2)] * 2
    assert metered(meter, (), 3.0) == [round(4 / 2.1, 2)] * 2


def test_too_little_speech_has_no_rate():
    meter = SyllableMeter(1000)
    assert metered(meter, (1.9,), 3.0) == [None, None]
    meter = SyllableMeter(1000)
    assert metered(meter, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 3.0) == [None, None]


def test_a_branch_counts_for_itself():
    meter = SyllableMeter(1000)
    metered(meter, np.arange(1, 11) / 5, 2.0)
    other = meter.branch()
    metered(meter, 2 + np.arange(1, 5) / 1, 6.0)
    assert metered(other, 2 + np.arange(1, 11) / 5, 4.0) == [5.0, 5.0]
