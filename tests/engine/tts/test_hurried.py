"""Speech above a model's own rates."""

import numpy as np
import pytest

from engine.tts.base import AudioFrame, Finished, Onset, RateRange, Starved, Step
from engine.tts.hurried import Hurried
from tests.engine.tts.utterances import Utterance, drain, push
from tests.help.fakes.tts import SAMPLE_RATE, FakeSession

FRAME = 640
OWN = RateRange(1.0, 7.0)
PITCH = 200


class EvenSession(FakeSession):
    """Words of one syllable, each a tone of the same length: a word lasts 1 / rate seconds."""

    def __init__(self) -> None:
        super().__init__(0, lambda text: None)
        self._asked: float | None = None
        self._at = 0
        self._places = [0]

    @property
    def rate(self) -> float | None:
        return self._asked

    @rate.setter
    def rate(self, rate: float | None) -> None:
        self._asked = rate if rate is None else OWN.nearest(rate)

    def step(self) -> Step:
        if self._at >= self._places[-1]:
            if len(self._places) > len(self._waiting):
                return Finished() if self._ended else Starved()
            self._places.append(self._places[-1] + round(SAMPLE_RATE / (self.rate or 4.0)))
        begin, self._at = self._at, min(self._at + FRAME, self._places[-1])
        onsets = tuple(
            Onset(word, place)
            for word, place in enumerate(self._places[:-1])
            if begin <= place < self._at
        )
        pcm = np.sin(2 * np.pi * PITCH / SAMPLE_RATE * np.arange(begin, self._at))
        mean = len(self._places[1:]) * SAMPLE_RATE / self._places[-1]
        return AudioFrame(pcm.astype(np.float32), begin, onsets, self.rate, mean)

    def rewind(self, sample: int) -> int | None:
        later = [place for place in self._places[:-1] if sample <= place < self._at]
        if not later:
            return None
        self._at = later[0]
        self._places = [place for place in self._places if place <= self._at]
        return self._at


def opened(words: int) -> Hurried:
    speech = Hurried(EvenSession(), SAMPLE_RATE)
    push(speech, ["go"] * words)
    return speech


def sound(frames: list[AudioFrame]) -> np.ndarray:
    return Utterance(tuple(frames)).pcm


def onsets(frames: list[AudioFrame]) -> tuple[Onset, ...]:
    return Utterance(tuple(frames)).onsets


@pytest.mark.parametrize("rate", [8.0, 10.0, 13.0])
def test_above_the_models_rates_speech_is_shorter_at_the_same_pitch(rate):
    speech = opened(40)
    speech.rate = rate
    assert speech.rate == rate
    frames = drain(speech)
    pcm = sound(frames)
    assert len(pcm) / SAMPLE_RATE == pytest.approx(40 / rate, rel=0.02)
    spectrum = np.abs(np.fft.rfft(pcm * np.hanning(len(pcm))))
    assert np.argmax(spectrum) * SAMPLE_RATE / len(pcm) == pytest.approx(PITCH, abs=8)
    assert [onset.word for onset in onsets(frames)] == list(range(40))
    places = np.array([onset.sample for onset in onsets(frames)])
    assert np.abs(places - np.arange(40) * SAMPLE_RATE / rate).max() < 0.05 * SAMPLE_RATE
    ends = [frame.sample + len(frame.pcm) for frame in frames]
    assert [frame.sample for frame in frames] == [0, *ends[:-1]]
    measured = [(frame.rate, frame.mean) for frame in frames[10:-1]]
    for now, mean in measured:
        assert now == pytest.approx(rate, rel=0.01)
        assert mean == pytest.approx(rate, rel=0.08)


@pytest.mark.parametrize("rate", [5.5, 7.0, 7.1])
def test_a_voice_with_a_low_limit_follows_every_rate_above_it(rate, monkeypatch):
    monkeypatch.setattr("tests.engine.tts.test_hurried.OWN", RateRange(1.0, 5.0))
    speech = opened(20)
    speech.rate = rate
    assert speech.rate == rate
    assert len(sound(drain(speech))) / SAMPLE_RATE == pytest.approx(20 / rate, rel=0.03)


def test_no_speech_is_faster_than_it_can_be_understood_of():
    speech = opened(1)
    speech.rate = 100.0
    assert speech.rate == pytest.approx(7.0 * 2.2)


@pytest.mark.parametrize("rate", [None, 3.0, 7.0])
def test_within_the_models_rates_nothing_changes(rate):
    plain, speech = EvenSession(), opened(12)
    push(plain, ["go"] * 12)
    plain.rate = speech.rate = rate
    for mine in drain(speech):
        own = plain.step()
        assert isinstance(own, AudioFrame)
        assert np.array_equal(mine.pcm, own.pcm)
        assert (mine.sample, mine.onsets, mine.rate) == (own.sample, own.onsets, own.rate)
    assert isinstance(plain.step(), Finished)


@pytest.mark.parametrize("later", [9.0, 13.0, 4.0])
@pytest.mark.parametrize("again", [False, True])
def test_speech_that_was_made_shorter_is_taken_back_too(later, again):
    speech = opened(60)
    speech.rate = 11.0
    frames = [speech.step() for _ in range(30)]
    speech.rate = later
    for sample in (frames[20].sample, frames[12].sample - 30)[: 1 + again]:
        end = speech.rewind(sample)
        assert 0 <= end - sample < FRAME
    slow = drain(speech)
    before = [frame for frame in frames if frame.sample < end]
    assert slow[0].sample == end == before[-1].sample + len(before[-1].pcm)
    heard = onsets([*before, *slow])
    assert [onset.word for onset in heard] == list(range(60))
    gaps = np.diff([onset.sample for onset in onsets(slow)])[2:]
    assert gaps.mean() == pytest.approx(SAMPLE_RATE / later, rel=0.03)
    steepest = 2 * np.pi * PITCH / SAMPLE_RATE
    assert np.abs(np.diff(sound([*before, *slow])[: end + FRAME])).max() < 1.3 * steepest


def test_a_rewind_within_plain_speech_is_the_sessions_own_and_positions_stay_right():
    speech = opened(30)
    speech.rate = 5.0
    for _ in range(10):
        speech.step()
    assert speech.rewind(2_000) == 3_200
    speech.rate = 13.0
    fast = [speech.step() for _ in range(10)]
    assert fast[0].sample == 3_200
    assert fast[0].onsets[0] == Onset(2, 3_200)
    speech.rate = 4.0
    slow = drain(speech)
    words = [onset.word for onset in onsets([*fast, *slow])]
    assert words == list(range(2, 30))
    assert slow[0].sample == fast[-1].sample + len(fast[-1].pcm)
    gaps = np.diff([onset.sample for onset in onsets(slow)][2:])
    assert np.all(np.abs(gaps - SAMPLE_RATE / 4) < 3)


def test_after_fast_speech_plain_speech_can_be_taken_back():
    speech = opened(30)
    speech.rate = 13.0
    for _ in range(8):
        speech.step()
    speech.rate = 4.0
    plain = [speech.step() for _ in range(12)]
    last = onsets(plain)[-1]
    assert speech.rewind(last.sample) == last.sample
    assert speech.step().onsets[0] == last


def test_a_rewind_into_speech_that_was_not_returned_yet_leaves_no_gap():
    """As in a long word, behind whose end alone another rate can begin."""
    session = EvenSession()
    speech = Hurried(session, SAMPLE_RATE)
    push(speech, ["go"] * 4, ended=False)
    frames = [speech.step() for _ in range(5)]
    session.rewind = lambda sample: 6_000  # type: ignore[method-assign]
    assert speech.rewind(3_000) == 6_000
    following = speech.step()
    assert following.sample == frames[-1].sample + len(frames[-1].pcm)
