"""The ears, ticked by hand: speech is found where it is, however quiet the room was before."""

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE
from engine.audio.base import Pcm, Played
from engine.messages import Event
from engine.runtime.happenings import Happening, SpeechEnded, SpeechStarted
from engine.runtime.listener import Attend, Listener, UseMicrophone
from tests.end_to_end.spoken import spoken
from tests.fakes import Stage

QUIET_S = 2.0
BLOCK = SAMPLE_RATE // 20


class Ears:
    """A listener with a hand-fed microphone at 16 kHz, hands free; nothing is being played."""

    def __init__(self) -> None:
        self.told: list[Happening | Event] = []
        self._stage = Stage()
        nothing = Played(np.zeros(0, np.float32), SAMPLE_RATE, more=False)
        self.listener = Listener(
            self._stage.parts(),
            self.told.append,
            lambda job: None,
            lambda: nothing,
            end_silence_ms=500,
        )
        self.listener._handle(UseMicrophone(""))
        self.listener._handle(Attend(hands_free=True, deaf=False))

    def hear(self, pcm: Pcm) -> None:
        for first in range(0, len(pcm), BLOCK):
            self._stage.microphones[""].hear(pcm[first : first + BLOCK])
            self.listener._tick()


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


def test_a_quiet_room_is_not_looked_at() -> None:
    ears = Ears()
    ears.hear(np.zeros(SAMPLE_RATE, np.float32))
    assert ears.listener._watch.resting
    ears.hear(np.full(SAMPLE_RATE, 0.01, np.float32))
    assert not ears.listener._watch.resting
