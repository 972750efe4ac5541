"""The ears, ticked by hand: speech is found where it is, however quiet the room was before."""

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE, Transcript
from engine.asr.completeness import Completeness
from engine.audio.base import Pcm, Played
from engine.audio.echo.near_end import NearEnd
from engine.audio.vad import SpeechEnded, SpeechPaused, SpeechResumed, SpeechStarted
from engine.errors import DeviceError
from engine.messages.events import Event, Failed, Notice
from engine.runtime.turn.endpointing import LONGEST_S, Length, Silence
from engine.runtime.turn.facts import Drafted, Fact, MicrophoneLevel
from engine.runtime.turn.orders import CloseUtterance, JoinUtterance, OpenUtterance
from engine.runtime.workers.ears.ducking import Ducking
from engine.runtime.workers.ears.listener import (
    TOO_SOON,
    Attend,
    Listener,
    Order,
    UseDevice,
)
from engine.runtime.workers.ears.transcriber import HearAudio, Job
from tests.end_to_end.spoken import silence, spoken
from tests.fakes import FakeParts

QUIET_S = 2.0
BLOCK = SAMPLE_RATE // 20


def drafted(pause: int, completeness: Completeness) -> Drafted:
    return Drafted(1, pause, Transcript("set a timer for", 0.9, "fake"), completeness, 0.0)


class Ears:
    """A listener with a hand-fed microphone at 16 kHz, hands free; nothing is being played."""

    def __init__(self, *, midway: bool = False) -> None:
        self.told: list[Fact | Event] = []
        self.jobs: list[Job] = []
        self._stage = FakeParts()
        self._stage.microphones[""].joins_midway = midway
        nothing = Played(np.zeros(0, np.float32), SAMPLE_RATE, more=False)
        self.ducked: list[bool] = []
        self.listener = Listener(
            self._stage.factories(),
            self.told.append,
            self.jobs.append,
            lambda: nothing,
            Ducking(self.ducked.append),
        )
        self.listener._handle(UseDevice(""))
        self.listener._handle(Attend(hands_free=True, deaf=False))
        self.microphone = self._stage.microphones[""]
        self.spotter = self._stage.spotter

    def hear(self, pcm: Pcm) -> None:
        for first in range(0, len(pcm), BLOCK):
            self._stage.microphones[""].hear(pcm[first : first + BLOCK])
            self.listener._tick()


def test_the_level_is_told_ten_times_a_second() -> None:
    ears = Ears()
    ears.hear(np.zeros(2 * SAMPLE_RATE, np.float32))
    assert sum(isinstance(event, MicrophoneLevel) for event in ears.told) == 20


@pytest.mark.parametrize("noise", [0.0, 3e-5, 1e-3])
def test_speech_after_quiet_is_told_with_its_place(noise: float) -> None:
    speech = spoken("what time is it")
    quiet = np.zeros(int(QUIET_S * SAMPLE_RATE), np.float32)
    pcm = np.concatenate((quiet, speech, quiet))
    pcm += noise * np.random.default_rng(1).standard_normal(len(pcm)).astype(np.float32)
    ears = Ears()
    ears.hear(pcm)
    started = [event for event in ears.told if isinstance(event, SpeechStarted)]
    assert len(started) == 1
    assert abs(started[0].sample - QUIET_S * SAMPLE_RATE) < 0.3 * SAMPLE_RATE
    assert len([event for event in ears.told if isinstance(event, SpeechEnded)]) == 1


def test_a_pause_has_the_utterance_drafted_and_ends_when_it_was_asked_to() -> None:
    ears = Ears()
    ears.hear(np.concatenate((silence(0.5), spoken("set a timer for"))))
    ears.listener._handle(OpenUtterance(1, 8_000))
    ears.hear(silence(0.3))
    paused = next(event for event in ears.told if isinstance(event, SpeechPaused))
    pause = paused.sample
    assert paused in ears.jobs
    ears.listener._handle(drafted(pause, Completeness.WHOLE))
    assert not [event for event in ears.told if isinstance(event, SpeechEnded)]
    ears.hear(silence(0.2))
    assert [event for event in ears.told if isinstance(event, SpeechEnded)]


def test_speech_that_goes_on_takes_the_silence_asked_for_back() -> None:
    ears = Ears()
    ears.hear(np.concatenate((silence(0.5), spoken("set a timer for"))))
    ears.listener._handle(OpenUtterance(1, 8_000))
    ears.hear(silence(0.3))
    pause = next(event.sample for event in ears.told if isinstance(event, SpeechPaused))
    ears.hear(spoken("ten minutes"))
    assert any(isinstance(job, SpeechResumed) for job in ears.jobs)
    ears.listener._handle(drafted(pause, Completeness.SETTLED))
    ears.hear(silence(0.4))
    assert not [event for event in ears.told if isinstance(event, SpeechEnded)]
    ears.hear(silence(1.5))
    assert [event for event in ears.told if isinstance(event, SpeechEnded)]


def test_an_utterance_that_is_rejoined_loses_no_sample() -> None:
    ears = Ears()
    speech = np.arange(SAMPLE_RATE, dtype=np.float32) / SAMPLE_RATE
    ears.listener._handle(OpenUtterance(1, 0))
    ears.hear(speech[:8_000])
    ears.listener._handle(CloseUtterance(1))
    ears.hear(speech[8_000:12_000])
    ears.listener._handle(JoinUtterance(1, 2))
    ears.hear(speech[12_000:])
    fed = [job.pcm for job in ears.jobs if isinstance(job, HearAudio)]
    np.testing.assert_array_equal(np.concatenate(fed), speech)
    assert JoinUtterance(1, 2) in ears.jobs


@pytest.mark.parametrize("heard_s", [0.0, 0.3])  # of quiet before: between two words
def test_who_spoke_before_the_microphone_was_opened_is_not_heard_but_told(heard_s: float) -> None:
    question = spoken("convert ten miles to kilometers")
    ears = Ears(midway=True)
    ears.hear(np.concatenate((silence(heard_s), question[len(question) // 3 :])))
    ears.listener._handle(Attend(hands_free=False, deaf=False))  # forgets what was heard so far
    ears.listener._handle(Attend(hands_free=True, deaf=False))
    ears.hear(np.concatenate((question[len(question) // 2 :], silence(2.0))))
    assert not [event for event in ears.told if isinstance(event, SpeechStarted | SpeechEnded)]
    assert [event for event in ears.told if isinstance(event, Notice)] == [Notice(TOO_SOON)]
    ears.hear(np.concatenate((question, silence(2.0))))
    assert len([event for event in ears.told if isinstance(event, SpeechStarted)]) == 1


def test_after_a_moment_of_quiet_it_is_heard_whole() -> None:
    ears = Ears(midway=True)
    ears.hear(np.concatenate((silence(1.0), spoken("what time is it"), silence(2.0))))
    assert len([event for event in ears.told if isinstance(event, SpeechStarted)]) == 1
    assert not [event for event in ears.told if isinstance(event, Notice)]


def test_who_speaks_while_another_microphone_takes_over_goes_on() -> None:
    ears = Ears(midway=True)
    ears.hear(silence(1.0))
    ears.listener._handle(UseDevice(""))
    ears.hear(np.concatenate((spoken("what time is it"), silence(2.0))))
    assert len([event for event in ears.told if isinstance(event, SpeechStarted)]) == 1


def test_a_quiet_room_is_not_looked_at() -> None:
    ears = Ears()
    ears.hear(np.zeros(SAMPLE_RATE, np.float32))
    assert ears.listener._watch.resting
    ears.hear(np.full(SAMPLE_RATE, 0.01, np.float32))
    assert not ears.listener._watch.resting


def test_a_trace_of_somebody_ducks_the_reply_only_while_it_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NearEnd, "double_talk", True)
    ears = Ears()
    ears.hear(np.zeros(int(0.1 * SAMPLE_RATE), np.float32))
    assert ears.ducked == []
    ears.listener._handle(Attend(hands_free=True, deaf=False, wary=True))
    ears.hear(np.zeros(int(0.1 * SAMPLE_RATE), np.float32))
    assert ears.ducked == [True]
    ears.listener._handle(Attend(hands_free=True, deaf=False))
    ears.hear(np.zeros(int(0.5 * SAMPLE_RATE), np.float32))
    assert ears.ducked == [True, False]


def ends(ears: Ears) -> int:
    return sum(isinstance(told, SpeechEnded) for told in ears.told)


def test_somebody_who_never_pauses_has_ended_after_a_minute() -> None:
    ears = Ears()
    talk = np.concatenate([spoken("what time is it in tokyo and what is the date")] * 2)
    ears.hear(talk[: SAMPLE_RATE // 2])
    ears.listener._handle(OpenUtterance(1, 0))
    ears.listener._watch.strategies = (Length(), Silence(10_000))  # they pause, but never so long
    while ears.listener._position < (LONGEST_S + 2) * SAMPLE_RATE and not ends(ears):
        ears.hear(talk)
    assert ends(ears) == 1
    assert LONGEST_S <= ears.listener._position / SAMPLE_RATE < LONGEST_S + 8


def test_the_talk_key_may_be_held_for_longer_than_a_minute() -> None:
    ears = Ears()
    ears.listener._handle(OpenUtterance(1, None))
    ears.hear(silence(LONGEST_S + 2))
    assert ends(ears) == 0


@pytest.mark.parametrize(
    "order", [UseDevice(""), Attend(hands_free=False, deaf=False), Attend(True, deaf=True)]
)
def test_who_is_no_longer_followed_has_ended(order: Order) -> None:
    ears = Ears()
    ears.hear(spoken("what time is it in tokyo")[:SAMPLE_RATE])
    assert any(isinstance(told, SpeechStarted) for told in ears.told)
    ears.listener._handle(order)
    assert ends(ears) == 1


def test_what_is_said_after_a_long_pause_with_the_key_held_is_no_part_of_the_draft() -> None:
    ears = Ears()
    ears.listener._handle(OpenUtterance(1, None))
    ears.hear(spoken("what time is it"))
    ears.hear(silence(3.0))
    assert ends(ears) == 0
    ears.jobs.clear()
    ears.hear(spoken("in tokyo"))
    assert any(isinstance(job, SpeechResumed) for job in ears.jobs)


def test_the_silence_after_the_key_is_let_go_counts_again() -> None:
    ears = Ears()
    ears.listener._handle(OpenUtterance(1, None))
    ears.hear(np.concatenate((spoken("what time is it"), silence(3.0))))
    ears.listener._handle(CloseUtterance(1))
    ears.hear(silence(0.1))
    assert ends(ears) == 1


def test_a_microphone_that_cannot_be_replaced_ends_the_turn_it_was_heard_for() -> None:
    ears = Ears()
    ears.listener._handle(OpenUtterance(1, None))
    del ears._stage.microphones[""]
    ears.listener._report(DeviceError("The microphone is gone."))
    failed = [told.turn for told in ears.told if isinstance(told, Failed)]
    assert failed == [None, 1]
