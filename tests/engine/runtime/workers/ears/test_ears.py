"""The ears, ticked by hand: speech is found where it is, however quiet the room was before; under a
reply its first sign counts only where there is a trace of somebody.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE, Transcript
from engine.asr.completeness import Completeness
from engine.audio import vad
from engine.audio.base import Pcm, Played
from engine.audio.echo.near_end import NearEnd
from engine.audio.vad import WINDOW, SpeechEnded, SpeechPaused, SpeechResumed, SpeechStarted
from engine.errors import DeviceError, ModelError
from engine.messages.events import Event, Failed, Levels, Notice, Ready
from engine.runtime.turn.facts import Fact, InterimTranscript
from engine.runtime.turn.orders import (
    Attend,
    CloseUtterance,
    DropUtterance,
    HoldUtterance,
    JoinUtterance,
    OpenUtterance,
    UseDevice,
)
from engine.runtime.turn.waiting import LONGEST_S, Patience
from engine.runtime.workers import worker
from engine.runtime.workers.ears.ears import TOO_SOON, EarJob, Ears
from engine.runtime.workers.ears.loudness import FAINT
from engine.runtime.workers.ears.speech_watch import INSISTENT, SpeechWatch
from engine.runtime.workers.ears.transcriber import HearAudio, Job
from tests.end_to_end.spoken import silence, spoken
from tests.engine.runtime.by_hand import HandWorker
from tests.help.fakes.parts import FakeParts, HandMicrophone

QUIET_S = 2.0
BLOCK = SAMPLE_RATE // 20


class Listening:
    """Ears with a hand-fed microphone at 16 kHz, hands free, run by hand; nothing is being played.
    What they would have recognised is in `jobs`.
    """

    def __init__(self, *, midway: bool = False) -> None:
        self.told: list[Fact | Event] = []
        self.ducked: list[bool] = []
        self._stage = FakeParts()
        self._stage.microphones[""].joins_midway = midway
        nothing = Played(np.zeros(0, np.float32), SAMPLE_RATE, more=False)
        loudspeaker = SimpleNamespace(take_played=lambda: nothing)
        controls = SimpleNamespace(
            duck=self.ducked.append, loudspeaker=loudspeaker, level_db=0.0, rings=False
        )
        self.controls = controls
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker, "Worker", HandWorker)
            self.ears = Ears(self._stage.factories(), self.told.append, controls)
        self.jobs: list[Job] = self.ears._transcriber._worker._inbox
        self.do(UseDevice(""), Attend(hands_free=True, ignore_microphone=False))
        self.microphone = self._stage.microphones[""]
        self.spotter = self._stage.spotter

    def do(self, *orders: EarJob) -> None:
        for order in orders:
            self.ears.post(order)
        self.ears._worker.run()

    def hear(self, *sounds: Pcm) -> None:
        pcm = np.concatenate(sounds)
        for first in range(0, len(pcm), BLOCK):
            self._stage.microphones[""].hear(pcm[first : first + BLOCK])
            self.do()

    def count(self, *kinds: type) -> int:
        return sum(isinstance(told, kinds) for told in self.told)

    @property
    def fed(self) -> Pcm:
        return np.concatenate([job.pcm for job in self.jobs if isinstance(job, HearAudio)])

    @property
    def closes(self) -> list[CloseUtterance]:
        return [job for job in self.jobs if isinstance(job, CloseUtterance)]

    def open_with(self, *sounds: Pcm) -> None:
        """An utterance that begins with these after half a second."""
        self.hear(silence(0.5), *sounds)
        self.do(OpenUtterance(1, 8_000))

    def decode_pause(self, completeness: Completeness) -> InterimTranscript:
        pause = next(job.sample for job in self.jobs if isinstance(job, SpeechPaused))
        words = Transcript("set a timer for", 0.9, "fake")
        interim = InterimTranscript(1, pause, words, completeness, 0.0)
        self.do(interim)
        return interim


def test_the_level_is_told_ten_times_a_second():
    room = Listening()
    room.hear(np.zeros(2 * SAMPLE_RATE, np.float32))
    assert room.count(Levels) == 20


def test_without_a_canceller_nothing_is_heard_while_it_rings_but_in_the_pauses():
    room = Listening()
    speech = spoken("what time is it")
    room.controls.rings = True
    room.hear(silence(1.0), speech, silence(1.0))
    assert room.count(SpeechStarted) == 0
    room.controls.rings = False
    room.hear(silence(1.0), speech, silence(1.0))
    assert room.count(SpeechStarted) == 1


@pytest.mark.parametrize("noise", [0.0, 3e-5, 1e-3])
def test_speech_after_quiet_is_told_with_its_place(noise):
    speech = spoken("what time is it")
    quiet = np.zeros(int(QUIET_S * SAMPLE_RATE), np.float32)
    pcm = np.concatenate((quiet, speech, quiet))
    pcm += noise * np.random.default_rng(1).standard_normal(len(pcm)).astype(np.float32)
    room = Listening()
    room.hear(pcm)
    (started,) = [event for event in room.told if isinstance(event, SpeechStarted)]
    assert abs(started.sample - QUIET_S * SAMPLE_RATE) < 0.3 * SAMPLE_RATE
    assert room.count(SpeechEnded) == 1


def faint(peak_db: float, noise_db: float) -> Pcm:
    """A sentence with this peak over noise, both in dBFS."""
    speech = spoken("set a timer for ten minutes")
    pcm = np.concatenate((silence(2.0), speech / np.abs(speech).max(), silence(2.0)))
    noise = np.random.default_rng(1).standard_normal(len(pcm))
    return (10 ** (peak_db / 20) * pcm + 10 ** (noise_db / 20) * noise).astype(np.float32)


@pytest.mark.parametrize(
    ("peak_db", "noise_db", "hints"), [(-20, -60, 0), (-38, -72, 0), (-46, -72, 1), (-60, -85, 1)]
)
def test_very_quiet_speech_is_heard_and_the_person_is_told_once(peak_db, noise_db, hints):
    room = Listening()
    for turn in (1, 2):
        room.hear(faint(peak_db, noise_db)[: 3 * SAMPLE_RATE])
        (started,) = [event for event in room.told if isinstance(event, SpeechStarted)][turn - 1 :]
        room.do(OpenUtterance(turn, started.sample))
        room.hear(faint(peak_db, noise_db)[3 * SAMPLE_RATE :])
    assert room.count(SpeechEnded) == 2
    assert [told.text for told in room.told if isinstance(told, Notice)] == [FAINT] * hints


def test_a_talk_key_that_is_only_touched_gives_no_hint():
    room = Listening()
    room.do(OpenUtterance(1, None))
    room.hear(silence(0.4))
    room.do(CloseUtterance(1))
    assert room.count(Notice) == 0


def test_without_a_detector_that_is_told_and_the_talk_key_works(monkeypatch):
    def missing() -> None:
        raise ModelError("The detector is not installed.", hint="")

    monkeypatch.setattr(vad, "Vad", missing)
    room = Listening()
    room.hear(silence(0.5), spoken("hello"), silence(1.0))
    assert [told.message for told in room.told if isinstance(told, Failed)] == [
        "The detector is not installed."
    ]
    room.do(OpenUtterance(1, None))
    room.hear(spoken("hello"))
    room.do(CloseUtterance(1))
    assert len(room.fed) > SAMPLE_RATE // 4
    assert room.closes == [CloseUtterance(1)]


def test_a_lost_microphone_closes_the_recogniser():
    room = Listening()
    room.do(OpenUtterance(1, None))
    for _ in range(2):  # the one that takes over is lost at once too
        room.ears._report(DeviceError("It is gone."))
    assert DropUtterance(1) in room.jobs


@pytest.mark.parametrize("name", ["default microphone", "another one"])
def test_a_microphone_that_is_back_stands_in_for_none(name):
    room = Listening()
    room._stage.microphones[""] = HandMicrophone(name)
    room.ears._report(DeviceError("It is gone."))
    ready = [told for told in room.told if isinstance(told, Ready)][-1]
    assert (ready.name, ready.instead) == (name, name != "default microphone")


def test_a_pause_has_the_utterance_decoded_and_ends_when_it_was_asked_to():
    room = Listening()
    room.open_with(spoken("set a timer for"))
    room.hear(silence(0.3))
    assert room.decode_pause(Completeness.WHOLE) == room.told[-1]
    assert room.count(SpeechEnded) == 0
    room.hear(silence(0.2))
    assert room.count(SpeechEnded) == 1


def test_speech_that_goes_on_takes_the_silence_asked_for_back():
    room = Listening()
    room.open_with(spoken("set a timer for"))
    room.hear(silence(0.3), spoken("ten minutes"))
    assert any(isinstance(job, SpeechResumed) for job in room.jobs)
    room.decode_pause(Completeness.SETTLED)
    assert room.count(InterimTranscript) == 0
    room.hear(silence(0.4))
    assert room.count(SpeechEnded) == 0
    room.hear(silence(1.5))
    assert room.count(SpeechEnded) == 1


def test_an_utterance_that_is_rejoined_loses_no_sample():
    room = Listening()
    speech = np.arange(SAMPLE_RATE, dtype=np.float32) / SAMPLE_RATE
    room.do(OpenUtterance(1, 0))
    room.hear(speech[:8_000])
    room.do(CloseUtterance(1))
    room.hear(speech[8_000:12_000])
    room.do(JoinUtterance(1, 2))
    room.hear(speech[12_000:])
    np.testing.assert_array_equal(room.fed, speech)
    assert JoinUtterance(1, 2) in room.jobs


@pytest.mark.parametrize("heard_s", [0.0, 0.3])  # of quiet before: between two words
def test_who_spoke_before_the_microphone_was_opened_is_not_heard_but_told(heard_s):
    question = spoken("convert ten miles to kilometers")
    room = Listening(midway=True)
    room.hear(silence(heard_s), question[len(question) // 3 :])
    room.do(Attend(hands_free=False, ignore_microphone=False))  # forgets what was heard so far
    room.do(Attend(hands_free=True, ignore_microphone=False))
    room.hear(question[len(question) // 2 :], silence(2.0))
    assert room.count(SpeechStarted, SpeechEnded) == 0
    assert [event for event in room.told if isinstance(event, Notice)] == [Notice(TOO_SOON)]
    room.hear(question, silence(2.0))
    assert room.count(SpeechStarted) == 1


def test_after_a_moment_of_quiet_it_is_heard_whole():
    room = Listening(midway=True)
    room.hear(silence(1.0))
    room.do(UseDevice(""))  # another one takes over
    room.hear(spoken("what time is it"), silence(2.0))
    assert room.count(SpeechStarted) == 1
    assert room.count(Notice) == 0


def test_a_trace_of_somebody_ducks_the_reply_only_while_it_is_heard(monkeypatch):
    monkeypatch.setattr(NearEnd, "double_talk", True)
    room = Listening()
    room.hear(np.zeros(int(0.1 * SAMPLE_RATE), np.float32))
    assert room.ducked == []
    room.do(Attend(hands_free=True, ignore_microphone=False, during_reply=True))
    room.hear(np.zeros(int(0.1 * SAMPLE_RATE), np.float32))
    assert room.ducked == [True]
    room.do(Attend(hands_free=True, ignore_microphone=False))
    room.hear(np.zeros(int(0.5 * SAMPLE_RATE), np.float32))
    assert room.ducked == [True, False]


def test_somebody_who_never_pauses_has_ended_after_a_minute_but_for_the_talk_key():
    room = Listening()
    room.do(OpenUtterance(1, None))
    room.hear(silence(LONGEST_S + 2))
    assert room.count(SpeechEnded) == 0
    room = Listening()
    talk = np.concatenate([spoken("what time is it in tokyo and what is the date")] * 2)
    room.hear(talk[: SAMPLE_RATE // 2])
    room.do(OpenUtterance(1, 0))
    room.ears._watch.patience = Patience(10_000)  # they pause, but never so long
    while room.ears._position < (LONGEST_S + 2) * SAMPLE_RATE and not room.count(SpeechEnded):
        room.hear(talk)
    assert room.count(SpeechEnded) == 1
    assert LONGEST_S <= room.ears._position / SAMPLE_RATE < LONGEST_S + 8


@pytest.mark.parametrize(
    "order",
    [
        UseDevice(""),
        Attend(hands_free=False, ignore_microphone=False),
        Attend(True, ignore_microphone=True),
    ],
)
def test_who_is_no_longer_followed_has_ended(order):
    room = Listening()
    room.hear(spoken("what time is it in tokyo")[:SAMPLE_RATE])
    assert room.count(SpeechStarted) == 1
    room.do(order)
    assert room.count(SpeechEnded) == 1


def test_no_silence_counts_while_the_key_is_held_and_it_does_again_once_it_is_let_go():
    room = Listening()
    room.do(OpenUtterance(1, None))
    room.hear(spoken("what time is it"), silence(3.0))
    assert room.count(SpeechEnded) == 0
    room.jobs.clear()
    room.hear(spoken("in tokyo"))  # is no part of the interim transcript
    assert any(isinstance(job, SpeechResumed) for job in room.jobs)
    room.hear(silence(3.0))
    room.do(CloseUtterance(1))
    room.hear(silence(0.1))
    assert room.count(SpeechEnded) == 1


@pytest.mark.parametrize("during_reply", [False, True])
def test_the_end_of_an_utterance_is_written_down_before_the_rules_ask_for_it(during_reply):
    room = Listening()
    room.do(Attend(hands_free=True, ignore_microphone=False, during_reply=during_reply))
    room.open_with(spoken("what time is it"))
    room.hear(silence(3.0))
    assert room.closes == [CloseUtterance(1, overlapping=during_reply)]
    room.do(CloseUtterance(1, ended_at=1.0))
    assert len(room.closes) == 1


def test_what_had_ended_before_the_rules_opened_it_is_written_down_when_they_close_it():
    room = Listening()
    room.hear(spoken("stop"), silence(3.0))
    assert room.count(SpeechEnded) == 1
    room.do(OpenUtterance(1, 0), CloseUtterance(1))
    assert room.closes == [CloseUtterance(1)]


def test_with_the_key_pressed_in_the_middle_of_it_no_silence_ends_an_utterance():
    room = Listening()
    room.open_with(spoken("what time is it"))
    room.do(HoldUtterance(1))
    room.hear(silence(5.0))
    assert (room.count(SpeechEnded), room.closes) == (0, [])
    room.do(CloseUtterance(1))
    assert room.closes == [CloseUtterance(1)]


def test_an_utterance_that_ended_just_before_the_key_was_down_goes_on():
    room = Listening()
    room.open_with(spoken("what time is it"))
    room.hear(silence(3.0))
    assert len(room.closes) == 1
    room.jobs.clear()
    room.do(HoldUtterance(1))
    tokyo = spoken("in tokyo")
    room.hear(tokyo)
    room.do(CloseUtterance(1))
    assert (room.jobs[0], room.jobs[-1]) == (JoinUtterance(1, 1), CloseUtterance(1))
    np.testing.assert_array_equal(room.fed[-len(tokyo) :], tokyo)


def test_of_an_utterance_that_is_over_the_key_holds_nothing():
    room = Listening()
    room.do(OpenUtterance(1, None), CloseUtterance(1), OpenUtterance(2, None), CloseUtterance(2))
    room.jobs.clear()
    room.do(HoldUtterance(1))
    assert room.jobs == []


class ScriptedVad:
    """Gives the probability that a window's samples are."""

    def push(self, pcm: Pcm) -> list[float]:
        return [float(each) for each in pcm[::WINDOW]]

    def reset(self) -> None:
        """Nothing is remembered."""


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> SpeechWatch:
    monkeypatch.setattr(vad, "Vad", ScriptedVad)
    watch = SpeechWatch(Patience(700))
    watch.load()
    watch.attend(during_reply=True)
    return watch


def starts(watch: SpeechWatch, probabilities: list[float], *, plausible: bool) -> list[int]:
    """Windows after which speech began, counting from 0."""
    found = []
    for number, probability in enumerate(probabilities):
        pcm = np.full(WINDOW, probability, np.float32)
        events = watch.push(pcm, (number + 1) * WINDOW, plausible=plausible)
        found += [number for event in events if isinstance(event, SpeechStarted)]
    return found


@pytest.mark.parametrize(
    ("voice", "plausible", "began"),
    [
        pytest.param([0.1, 0.1, 0.35], True, [2], id="first sign with a trace"),
        pytest.param([0.1, 0.9, 0.1, 0.9, 0.4, 0.9, 0.1], False, [], id="moments without one"),
        pytest.param([0.1, *[0.9] * INSISTENT], False, [INSISTENT], id="goes on without one"),
        pytest.param([0.7] * 50, False, [], id="perhaps a voice: the rest of an echo"),
    ],
)
def test_speech_begins(watch, voice, plausible, began):
    assert starts(watch, voice, plausible=plausible) == began


def test_what_went_before_a_reset_does_not_count(watch):
    assert starts(watch, [0.9] * (INSISTENT - 1), plausible=False) == []
    watch.reset()
    assert starts(watch, [0.9] * (INSISTENT - 1), plausible=False) == []
