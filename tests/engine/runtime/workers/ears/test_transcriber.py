"""Interim transcripts of an utterance and what becomes of them, on a transcriber run by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.asr.base import Recogniser, Transcript
from engine.asr.completeness import Completeness
from engine.audio.vad import SpeechPaused, SpeechResumed
from engine.messages.events import Event, PartialTranscript
from engine.runtime.turn.facts import Fact, InterimTranscript, Peeked, Transcribed
from engine.runtime.turn.orders import CloseUtterance, DropUtterance, JoinUtterance, OpenUtterance
from engine.runtime.workers import worker
from engine.runtime.workers.ears.transcriber import HearAudio, Transcriber
from engine.settings import RecogniserSettings
from tests.engine.runtime.by_hand import HandWorker
from tests.help.fakes.parts import FakeParts, FakeRecognition


class Scribe:
    def __init__(self) -> None:
        self.parts = FakeParts()
        self.told: list[Fact | Event] = []
        self.transcriber = Transcriber(self.parts.factories(), self.told.append, self.told.append)
        self.do(RecogniserSettings(), OpenUtterance(1, None))
        self.hear(1)
        self.told.clear()

    def do(self, *jobs: object) -> None:
        for job in jobs:
            self.transcriber.post(job)
        self.transcriber._worker.run()

    def hear(self, turn: int) -> None:
        self.do(HearAudio(turn, np.ones(1_600, np.float32)))

    def of(self, kind: type) -> list:
        return [event for event in self.told if isinstance(event, kind)]


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "Worker", HandWorker)


def test_what_is_said_while_the_recogniser_loads_is_heard_whole():
    scribe = Scribe()
    scribe.transcriber = Transcriber(scribe.parts.factories(), scribe.told.append, print)
    said = [HearAudio(2, np.ones(1_600, np.float32)) for _ in range(5)]
    scribe.do(RecogniserSettings(), OpenUtterance(2, 0), *said, CloseUtterance(2))
    assert scribe.parts.recogniser.samples == 5 * 1_600
    assert [told.turn for told in scribe.of(Transcribed)] == [2]


def test_what_was_said_into_a_reply_is_heard_as_overlapping_speech():
    scribe = Scribe()
    scribe.parts.recogniser.overlapping = "wait"
    scribe.do(CloseUtterance(1, overlapping=True))
    assert [told.transcript.text for told in scribe.of(Transcribed)] == ["wait"]


def test_the_interim_transcript_of_the_last_pause_is_the_transcript():
    scribe = Scribe()
    scribe.do(SpeechPaused(800), SpeechResumed(0), SpeechPaused(2_400))
    (interim,) = scribe.of(InterimTranscript)  # the other was overtaken by speech
    scribe.parts.recogniser.text = "something else"
    scribe.do(CloseUtterance(1))
    assert (interim.turn, interim.pause, interim.transcript.text) == (1, 2_400, "hello there")
    assert scribe.of(Transcribed) == [Transcribed(1, interim.transcript, interim.at)]
    scribe.told.clear()
    scribe.do()
    assert scribe.of(PartialTranscript) == []  # after the end


@pytest.mark.parametrize(
    ("first", "turns", "samples"),
    [(CloseUtterance(1), [1, 2], 3_200), (DropUtterance(1), [2], 1_600)],
)
def test_an_utterance_that_goes_on_as_another_turn_keeps_what_was_heard_unless_it_was_dropped(
    first, turns, samples
):
    scribe = Scribe()
    scribe.do(first, JoinUtterance(1, 2))
    scribe.hear(2)
    scribe.do(CloseUtterance(2))
    assert [said.turn for said in scribe.of(Transcribed)] == turns
    assert scribe.parts.recogniser.samples == samples


def test_another_language_applies_without_loading():
    loads: list[RecogniserSettings] = []
    parts = FakeParts()
    factories = parts.factories()

    def load(settings: RecogniserSettings, phrases: Sequence[str]) -> Recogniser:
        loads.append(settings)
        return factories.recogniser(settings, phrases)

    judged: list[str] = []

    def completeness(settings: RecogniserSettings) -> Callable[[str], Completeness]:
        judged.append(settings.language)
        return factories.completeness(settings)

    parts_counted = replace(factories, recogniser=load, completeness=completeness)
    transcriber = Transcriber(parts_counted, lambda told: None, lambda interim: None)
    whisper = RecogniserSettings(engine="whisper", model="a folder", language="en")
    for settings in (whisper, replace(whisper, language="de")):
        transcriber.post(settings)
        transcriber._worker.run()
    assert loads == [whisper]
    assert parts.recogniser.language == "de"
    assert judged == ["en", "de"]


def test_a_peek_is_told_before_the_text_so_far():
    scribe = Scribe()
    scribe.parts.recogniser.text = "stop it"
    scribe.do(OpenUtterance(2, None))
    scribe.told.clear()
    scribe.hear(2)
    assert scribe.told == [Peeked(2, "stop"), PartialTranscript(2, "stop")]


@pytest.mark.parametrize(
    ("language", "completeness"), [("de", Completeness.UNSURE), ("en", Completeness.OPEN)]
)
def test_rules_of_english_do_not_judge_another_language(monkeypatch, language, completeness):
    scribe = Scribe()
    scribe.transcriber._completeness = lambda text: Completeness.OPEN
    said = Transcript("wie spät ist es und", 0.9, "whisper", language)
    monkeypatch.setattr(FakeRecognition, "interim", lambda *_: said)
    scribe.do(SpeechPaused(800))
    assert [interim.completeness for interim in scribe.of(InterimTranscript)] == [completeness]
