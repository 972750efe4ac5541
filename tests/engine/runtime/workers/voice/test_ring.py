"""What rings, ticked by hand with a loudspeaker in the hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.audio.alarm_sound import BURST_S
from engine.audio.base import Pcm
from engine.runtime.turn import reply as reply_file
from engine.runtime.turn.orders import Resume, UseDevice
from engine.runtime.turn.reply import LiveControls, Reply
from engine.runtime.workers.voice import reserve as reserve_file
from engine.runtime.workers.voice.orders import SayWords, Sound
from engine.runtime.workers.voice.ring import PAUSE_S, SPEECH_S, Ring
from engine.runtime.workers.voice.speech_worker import SpeechWorker
from engine.settings import SpeechSettings
from engine.text.word import Word
from tests.help.fakes.parts import RATE, FakeParts, HandLoudspeaker

TICK_S = 0.01
WORDS = tuple(Word(text, 0, 0) for text in ("one", "two", "three", "four", "five", "six"))


class Room:
    """A speaker whose clock moves by what is played."""

    def __init__(self, *words: Word, volume: float = 1.0) -> None:
        self.now = 100.0
        self.parts = FakeParts()
        self.loudspeaker: HandLoudspeaker = self.parts.loudspeakers[""]
        self.controls = LiveControls(lead_ms=240)
        self.controls.volume = volume
        self.told: list[object] = []
        self.speaker = SpeechWorker(self.parts.factories(), self.told.append, self.controls)
        self.speaker._ring = Ring(self.controls, clock=lambda: self.now)
        self.reply = Reply(1, self.controls, aloud=True)
        self.do(SpeechSettings(), UseDevice(""))
        if words:
            self.do(SayWords(self.reply, words, last=True))

    def do(self, *orders: object) -> None:
        for order in orders:
            self.speaker._handle(order)

    def run(self, seconds: float) -> Pcm:
        """What is heard, with silence where nothing is."""
        heard = []
        for _ in range(round(seconds / TICK_S)):
            self.speaker._tick()
            self.loudspeaker.play(round(TICK_S * RATE))
            block = np.zeros(round(TICK_S * RATE), np.float32)
            block[: len(self.loudspeaker.heard[-1])] = self.loudspeaker.heard[-1]
            heard.append(block)
            self.now += TICK_S
        return np.concatenate(heard)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands still: a busy machine would seem a slow voice."""
    for file in (reply_file, reserve_file):
        monkeypatch.setattr(file, "time", SimpleNamespace(monotonic=lambda: 100.0))


def share_heard(pcm: Pcm) -> float:
    return float(np.mean(np.abs(pcm) > 1e-4))


@pytest.mark.parametrize("volume", [1.0, 0.0])
def test_it_rings_until_told_to_stop_also_when_speech_is_muted(volume):
    room = Room(volume=volume)
    room.do(Sound(True))
    early, late = room.run(6.4), room.run(6.4)
    expected = BURST_S / (BURST_S + PAUSE_S)
    assert share_heard(late) == pytest.approx(expected, abs=0.1)
    assert 3 * np.abs(early[: RATE // 2]).max() < np.abs(late).max() > 0.4
    room.do(Sound(False))
    assert share_heard(room.run(0.05)) < 0.5
    assert not np.any(room.run(3.0))
    assert room.controls.loudspeaker.gain == volume


def test_a_reply_is_heard_to_its_last_sample_between_bursts():
    alone = Room(*WORDS)
    whole = alone.run(20.0)
    room = Room(*WORDS)
    room.run(0.5)
    before = np.concatenate(room.loudspeaker.heard)
    room.do(Sound(True))
    burst = room.run(BURST_S)
    assert np.abs(burst).max() > 0.01
    assert room.reply.ending is None
    rest = room.run(SPEECH_S - 0.1)
    rest = rest[np.flatnonzero(rest)[0] :]
    from_here = whole[np.flatnonzero(whole)[0] :][len(before[np.flatnonzero(before)[0] :]) :]
    count = min(len(rest), len(from_here), RATE)
    np.testing.assert_allclose(rest[160:count], from_here[160:count], atol=1e-6)


def test_while_a_person_speaks_it_is_silent_and_goes_on_afterwards():
    room = Room()
    room.do(Sound(True))
    room.run(0.5)
    room.controls.ring_waits = True
    room.run(0.05)
    assert not np.any(room.run(8.0))
    room.controls.ring_waits = False
    assert np.any(room.run(PAUSE_S + 0.5))


def test_a_reply_that_was_paused_stays_so_until_the_person_has_spoken():
    room = Room(*WORDS)
    room.run(0.5)
    room.do(Sound(True))
    room.run(0.3)
    room.reply.pause()
    room.run(0.05)
    assert not np.any(room.run(2.0))
    room.do(Resume(1))
    assert np.any(room.run(0.5))
    assert not room.controls.rings


def test_it_rings_through_another_loudspeaker_when_one_is_lost():
    room = Room()
    other = HandLoudspeaker("other")
    room.do(Sound(True))
    room.run(0.5)
    room.parts.loudspeakers[""] = other
    room.loudspeaker.gone = True
    room.speaker._tick()
    room.loudspeaker = other
    assert np.any(room.run(4.0))
