"""The voice, ticked by hand: what is ducked is quieter, what is paused waits and loses nothing."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.audio.base import Pcm
from engine.runtime import speaker as speaker_file
from engine.runtime.speaker import (
    DUCKED,
    LONGEST_PAUSE_S,
    EndWords,
    LoadSynthesiser,
    ResumeSaying,
    SayWords,
    Speaker,
    StopSaying,
    UseLoudspeaker,
)
from engine.settings import SpeechSettings
from engine.text.word import Word
from tests.fakes import HandLoudspeaker, Stage

BLOCK = 160  # samples that are played between two ticks
WORDS = tuple(Word(text, 0, 0) for text in ("one", "two", "three", "four", "five", "six"))


class Mouth:
    """A speaker with a loudspeaker in the hand, and a reply it has begun as turn 1."""

    def __init__(self) -> None:
        stage = Stage()
        self.loudspeaker: HandLoudspeaker = stage.loudspeakers[""]
        self.speaker = Speaker(stage.parts(), lambda told: None, lead_ms=240)
        for order in (
            LoadSynthesiser(SpeechSettings()),
            UseLoudspeaker(""),
            SayWords(1, WORDS),
            EndWords(1),
        ):
            self.speaker._handle(order)

    def run(self, ticks: int) -> Pcm:
        """What is heard in so many ticks."""
        before = len(self.loudspeaker.heard)
        for _ in range(ticks):
            self.speaker._tick()
            self.loudspeaker.play(BLOCK)
        return np.concatenate(self.loudspeaker.heard[before:])

    def heard(self) -> Pcm:
        """Everything that was audible."""
        samples = np.concatenate(self.loudspeaker.heard)
        return samples[samples != 0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    stepped = SimpleNamespace(now=100.0)
    stepped.monotonic = lambda: stepped.now
    monkeypatch.setattr(speaker_file, "time", stepped)
    return stepped


def undisturbed() -> Pcm:
    mouth = Mouth()
    mouth.run(400)
    return mouth.heard()


def test_a_paused_reply_is_silent_and_goes_on_without_losing_a_sample() -> None:
    mouth = Mouth()
    mouth.run(20)
    mouth.speaker.pause(1)
    assert not np.any(mouth.run(50))
    mouth.speaker._handle(ResumeSaying(1))
    mouth.run(400)
    np.testing.assert_array_equal(mouth.heard(), undisturbed())
    assert mouth.loudspeaker.underruns == 0


def test_a_pause_that_nobody_ends_ends_by_itself(clock: SimpleNamespace) -> None:
    mouth = Mouth()
    mouth.run(20)
    mouth.speaker.pause(1)
    clock.now += LONGEST_PAUSE_S - 0.1
    assert not np.any(mouth.run(10))
    clock.now += 0.2
    assert np.any(mouth.run(10))


def test_of_a_reply_that_was_stopped_in_its_pause_nothing_is_heard_any_more() -> None:
    mouth = Mouth()
    mouth.run(20)
    mouth.speaker.pause(1)
    delivery = mouth.speaker.hush(1)
    mouth.speaker._handle(StopSaying(1))
    mouth.speaker._handle(ResumeSaying(1))
    assert not np.any(mouth.run(50))
    assert 0 < len(delivery.words) < len(WORDS)


def test_another_turn_is_not_paused() -> None:
    mouth = Mouth()
    mouth.run(20)
    mouth.speaker.pause(2)
    assert np.any(mouth.run(10))


def test_a_duck_is_quieter_and_passes() -> None:
    mouth = Mouth()
    mouth.run(20)
    mouth.speaker.duck(True)
    assert mouth.loudspeaker.gain == pytest.approx(DUCKED)
    mouth.speaker.volume = 0.5
    assert mouth.loudspeaker.gain == pytest.approx(0.5 * DUCKED)
    mouth.speaker.duck(False)
    assert mouth.loudspeaker.gain == pytest.approx(0.5)


def test_neither_a_duck_nor_a_volume_wakes_a_paused_reply() -> None:
    mouth = Mouth()
    mouth.run(20)
    mouth.speaker.pause(1)
    mouth.speaker.duck(True)
    mouth.speaker.duck(False)
    mouth.speaker.volume = 0.5
    assert mouth.loudspeaker.gain == 0.0
