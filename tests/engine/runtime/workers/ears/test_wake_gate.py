"""Asleep between turns: nothing is told but that the phrase was heard; and the closed stream."""

from collections.abc import Callable

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.audio.base import Pcm
from engine.audio.vad import SpeechEnded, SpeechStarted
from engine.errors import InvalidInput
from engine.messages.events import Failed, SleepChanged
from engine.runtime.turn.orders import Attend, OpenUtterance
from engine.runtime.workers.ears.wake_gate import WakeGate
from engine.settings import WakeSettings
from tests.end_to_end.spoken import silence, spoken
from tests.engine.runtime.workers.ears.test_ears import Listening
from tests.help.fakes.parts import FakeSpotter

STAY_S = 4.0
ON = WakeSettings(on=True, phrase="hey rubato", stay_awake_s=STAY_S)
CALL_SAMPLES = 160


def call() -> Pcm:
    """What the fake spotter takes for the phrase, said in a sentence's place."""
    pcm = spoken("hey there you").copy()
    pcm[-CALL_SAMPLES:] = 0.95
    return pcm


def asleep() -> Listening:
    """Ears that have just fallen asleep."""
    room = Listening()
    room.do(ON)
    room.hear(silence(STAY_S + 0.1))
    assert room.told.count(SleepChanged(True, "hey rubato")) == 1
    room.told.clear()
    return room


def test_asleep_nothing_is_told_nor_transcribed_until_it_is_switched_off():
    room = asleep()
    room.hear(silence(5.0))
    assert room.spotter.heard == 0  # nobody speaks, and it is not even asked
    room.hear(spoken("what time is it"), silence(3.0))
    assert room.count(SpeechStarted, SpeechEnded) == 0
    assert room.jobs == []
    room.do(WakeSettings())
    room.hear(spoken("what time is it"), silence(0.1))
    assert room.count(SpeechStarted) == 1


def test_the_phrase_wakes_it_and_what_follows_is_an_utterance_of_its_own():
    room = asleep()
    phrase, request = call(), spoken("what time is it")
    room.hear(phrase)
    assert SleepChanged(False, "hey rubato") in room.told
    room.hear(silence(0.4), request)
    (started,) = [event for event in room.told if isinstance(event, SpeechStarted)]
    woken_at = round((STAY_S + 0.1) * SAMPLE_RATE) + len(phrase)
    assert started.sample >= woken_at
    room.do(OpenUtterance(1, started.sample))
    assert np.abs(room.fed).max() < 0.9, "of the phrase nothing is transcribed"


def test_it_falls_asleep_again_if_nobody_says_more():
    room = asleep()
    room.hear(call(), silence(STAY_S + 3.0))
    assert [e.asleep for e in room.told if isinstance(e, SleepChanged)] == [False, True]


def test_after_a_turn_it_stays_awake_for_what_is_said_next():
    room = asleep()
    room.do(Attend(hands_free=True, ignore_microphone=False, busy=True))
    room.hear(silence(20.0))
    room.do(Attend(hands_free=True, ignore_microphone=False, busy=False))
    room.hear(silence(STAY_S - 1.0), spoken("what time is it"), silence(0.1))
    assert room.count(SpeechStarted) == 1
    assert SleepChanged(True, "hey rubato") not in room.told


def test_a_reply_never_wakes_it_for_it_is_awake_meanwhile_and_ignores_the_microphone():
    room = asleep()
    room.do(Attend(hands_free=True, ignore_microphone=True, busy=True))
    room.hear(call(), call())
    room.do(Attend(hands_free=True, ignore_microphone=False, busy=False))
    room.hear(silence(STAY_S + 1.0))
    assert room.spotter.heard == 0
    assert room.count(SpeechStarted, SpeechEnded) == 0


def asleep_gate(make: Callable[[WakeSettings], FakeSpotter]) -> tuple[WakeGate, list[object]]:
    told: list[object] = []
    gate = WakeGate(make, told.append)
    gate.use(ON, 0)
    gate.look(10 * SAMPLE_RATE, hands_free=True)
    assert gate.asleep
    return gate, told


def test_where_the_phrase_cannot_be_listened_for_it_sleeps_on():
    def none(settings: WakeSettings) -> FakeSpotter:
        raise InvalidInput("It will not do.", hint="Another.")

    gate, told = asleep_gate(none)
    assert gate.find(np.ones(160, np.float32), begins=True) is None
    assert [fault.message for fault in told if isinstance(fault, Failed)] == ["It will not do."]


def test_the_same_settings_again_listen_anew_and_wake_nobody():
    """As after the phrase was taught."""
    made: list[FakeSpotter] = []

    def make(settings: WakeSettings) -> FakeSpotter:
        made.append(FakeSpotter())
        return made[-1]

    gate, told = asleep_gate(make)
    told.clear()
    gate.use(ON, 10 * SAMPLE_RATE)
    gate.look(10 * SAMPLE_RATE, hands_free=True)
    assert gate.asleep
    assert told == []
    gate.find(np.ones(160, np.float32), begins=True)
    assert [spotter.heard for spotter in made] == [0, 160]
