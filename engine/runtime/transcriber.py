"""The recogniser on a thread of its own, so that decoding never delays voice activity.

Invariant: one Recognition at a time, of the newest turn; audio of another turn is dropped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from engine.asr.base import Recogniser, Recognition
from engine.audio.base import Pcm
from engine.errors import EngineError, RecogniserError
from engine.messages import Event, Loading, Part, Ready
from engine.runtime.happenings import Happening, PartFailed, PartialHeard, Transcribed
from engine.runtime.parts import Parts
from engine.runtime.unloaded import unloaded
from engine.runtime.worker import Worker
from engine.settings import RecogniserSettings

BUILT_IN = "sphinx"  # needs no download, so it stands in when another one will not load


@dataclass(frozen=True)
class LoadRecogniser:
    settings: RecogniserSettings


@dataclass(frozen=True)
class BeginUtterance:
    turn: int


@dataclass(frozen=True)
class HearAudio:
    """More of the utterance, 16 kHz."""

    turn: int
    pcm: Pcm


@dataclass(frozen=True)
class EndUtterance:
    turn: int


@dataclass(frozen=True)
class DropUtterance:
    turn: int


Job = LoadRecogniser | BeginUtterance | HearAudio | EndUtterance | DropUtterance


class Transcriber:
    """Owns the recogniser."""

    def __init__(self, parts: Parts, tell: Callable[[Happening | Event], None]) -> None:
        self._parts = parts
        self._tell = tell
        self._recogniser: Recogniser | None = None  # None until one is loaded
        self._recognition: Recognition | None = None  # None between utterances
        self._turn: int | None = None  # the turn of the recognition; None = none
        self._partial = ""
        self._worker: Worker[Job] = Worker(
            "transcriber", handle=self._handle, tick=self._tick, report=self._report
        )

    def start(self) -> None:
        self._worker.start()

    def post(self, job: Job) -> None:
        self._worker.post(job)

    def stop(self, timeout_s: float) -> bool:
        """End the thread and release the recogniser."""
        ended = self._worker.stop(timeout_s)
        if ended:
            self._drop()
            if self._recogniser:
                self._recogniser.close()
        return ended

    def _handle(self, job: Job) -> None:
        match job:
            case LoadRecogniser(settings):
                self._load(settings)
            case BeginUtterance(turn):
                self._begin(turn)
            case HearAudio(turn, pcm):
                if turn == self._turn and self._recognition:
                    self._recognition.push(pcm)
            case EndUtterance(turn):
                self._end(turn)
            case DropUtterance(turn):
                if turn == self._turn:
                    self._drop()
            case _:
                assert_never(job)

    def _load(self, settings: RecogniserSettings) -> None:
        self._drop()
        self._tell(Loading(Part.RECOGNISER, f"Loading {settings.engine}"))
        try:
            recogniser = self._parts.recogniser(settings, self._parts.phrases())
        except Exception as error:  # noqa: BLE001 - whatever a library raises, another stands in
            self._tell(PartFailed(Part.RECOGNISER, unloaded(Part.RECOGNISER, error)))
            if self._recogniser is None and settings.engine != BUILT_IN:
                self._load(replace(settings, engine=BUILT_IN, model=""))
            return
        if self._recogniser:
            self._recogniser.close()
        self._recogniser = recogniser
        self._tell(Ready(Part.RECOGNISER, recogniser.info.name, recogniser.info.detail))

    def _begin(self, turn: int) -> None:
        self._drop()
        self._turn = turn
        if self._recogniser is None:
            raise RecogniserError(
                "There is no speech recogniser yet.",
                hint="Type instead, or choose one in settings.",
            )
        self._recognition = self._recogniser.open()

    def _end(self, turn: int) -> None:
        if turn != self._turn or self._recognition is None:
            return
        transcript = self._recognition.finish()
        self._drop()
        self._tell(Transcribed(turn, transcript, time.monotonic()))

    def _drop(self) -> None:
        if self._recognition:
            self._recognition.close()
        self._recognition = None
        self._turn = None
        self._partial = ""

    def _tick(self) -> float | None:
        """Show what has been understood so far, once the waiting audio is decoded."""
        if self._recognition and self._turn is not None:
            partial = self._recognition.partial()
            if partial != self._partial:
                self._partial = partial
                self._tell(PartialHeard(self._turn, partial))
        return None

    def _report(self, error: Exception) -> None:
        turn = self._turn
        self._drop()
        if not isinstance(error, EngineError):
            error = RecogniserError(
                f"The speech recogniser failed: {error}", hint="Say it again, or type."
            )
        self._tell(PartFailed(Part.RECOGNISER, error, turn))
