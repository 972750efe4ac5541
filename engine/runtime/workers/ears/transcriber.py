"""The recogniser on a separate thread, so that decoding never delays voice activity.

Invariant: one Recognition at a time, of the newest turn; audio of another turn is dropped. It stays
open after the end of the utterance, because the user may continue before the reply is audible. A
chosen recogniser is loaded between two utterances, the newest choice only.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from engine.asr.base import Recogniser, Recognition, Transcript
from engine.asr.completeness import Completeness
from engine.asr.pick import resolve, why
from engine.audio.base import Pcm
from engine.audio.vad import SpeechPaused, SpeechResumed, SpeechStarted
from engine.errors import EngineError, RecogniserError
from engine.machine import return_freed_memory
from engine.messages.events import Failed, PartialTranscript
from engine.messages.words import Part
from engine.runtime.factories import Factories
from engine.runtime.turn.facts import InterimTranscript, Peeked, Transcribed
from engine.runtime.turn.orders import CloseUtterance, DropUtterance, JoinUtterance, OpenUtterance
from engine.runtime.workers.loaded_part import LoadedPart
from engine.runtime.workers.worker import Actor, Tell
from engine.settings import RecogniserSettings

BUILT_IN = "sphinx"  # needs no download, so it is the fallback


@dataclass(frozen=True)
class HearAudio:
    """More of the utterance, 16 kHz."""

    turn: int
    pcm: Pcm


# Settings of a recogniser; the audio of an utterance, and its pauses.
Speech = OpenUtterance | JoinUtterance | HearAudio | SpeechPaused | SpeechResumed | SpeechStarted
Job = RecogniserSettings | Speech | CloseUtterance | DropUtterance


class Transcriber(Actor[Job]):
    """Owns the recogniser."""

    def __init__(
        self,
        factories: Factories,
        tell: Tell,
        judge: Callable[[InterimTranscript], None],
    ) -> None:
        """`judge` gets the interim transcript of every pause, which may be over by then."""
        super().__init__("transcriber", tell)
        self._factories = factories
        self._judge = judge
        self._recogniser: LoadedPart[RecogniserSettings, Recogniser] = LoadedPart(
            Part.RECOGNISER,
            tell,
            load=lambda settings, _: factories.recogniser(settings, factories.phrases()),
            use=self._use,
            size_bytes=factories.size_bytes,
            stand_in=RecogniserSettings(engine=BUILT_IN),
        )
        self._wanted: RecogniserSettings | None = None  # None = the chosen one is loaded
        self._completeness: Callable[[str], Completeness] = lambda _text: Completeness.UNSURE
        self._recognition: Recognition | None = None  # None between utterances
        self._turn: int | None = None  # the turn of the recognition; None = none
        self._partial = self._peek = ""
        self._pause: int | None = None  # that needs an interim transcript; None = none
        self._interim: tuple[Transcript, float] | None = None  # and its time
        self._ended = False

    def post(self, job: Job) -> None:
        """Queue a job; stop decoding an interim transcript that it makes useless."""
        if isinstance(job, SpeechPaused):
            self._pause = job.sample
        elif isinstance(job, OpenUtterance | SpeechResumed | SpeechStarted | DropUtterance):
            self._pause = None
        super().post(job)

    def _release(self) -> None:
        self._drop()
        self._recogniser.close()

    def _handle(self, job: Job) -> None:  # noqa: C901, PLR0912 - one case per kind
        match job:
            case RecogniserSettings():
                self._wanted = job
            case OpenUtterance(turn):
                self._begin(turn)
            case HearAudio(turn, pcm):
                if turn == self._turn and self._recognition:
                    self._recognition.push(pcm)
            case SpeechPaused(pause):
                if self._turn is not None and self._recognition:
                    self._write_interim(self._recognition, self._turn, pause)
            case SpeechResumed() | SpeechStarted():
                self._interim = None
            case CloseUtterance(turn, overlapping):
                self._end(turn, overlapping=overlapping)
            case JoinUtterance(before, turn) if before == self._turn and self._recognition:
                self._turn, self._interim, self._ended = turn, None, False
            case JoinUtterance(turn=turn):
                self._begin(turn)
            case DropUtterance(turn):
                if turn == self._turn:
                    self._drop()
            case _:
                assert_never(job)

    def _load_wanted(self) -> None:
        """Load the last choice, as nothing is being transcribed."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._drop()
            self._recogniser.load_or_adjust(resolve(wanted), why(wanted))

    def _use(self, recogniser: Recogniser, settings: RecogniserSettings) -> str:
        recogniser.adjust(settings)
        self._completeness = self._factories.completeness(settings)
        return recogniser.info.detail

    def _begin(self, turn: int) -> None:
        self._drop()
        self._load_wanted()
        self._turn = turn
        recogniser = self._recogniser.now
        if recogniser is None:
            raise RecogniserError(
                "No speech recogniser is loaded yet.",
                hint="Type instead, or choose one in settings.",
            )
        self._recognition = recogniser.open()

    def _write_interim(self, recognition: Recognition, turn: int, pause: int) -> None:
        transcript = recognition.interim(lambda: self._pause == pause)
        if transcript is not None:
            at = time.monotonic()
            self._interim = (transcript, at)
            completeness = Completeness.UNSURE
            if transcript.language in ("", "en"):  # the rules are English
                completeness = self._completeness(transcript.text)
            self._judge(InterimTranscript(turn, pause, transcript, completeness, at))

    def _end(self, turn: int, *, overlapping: bool) -> None:
        """End the utterance: the interim transcript is final if no speech followed it."""
        if turn != self._turn or self._recognition is None:
            return
        if self._interim is None:
            recognition = self._recognition
            transcript = (
                recognition.overlapping() if overlapping else recognition.interim(lambda: True)
            )
            assert transcript is not None, "wanted to the end"
            self._interim = (transcript, time.monotonic())
        self._ended = True
        transcript, at = self._interim
        wish = overlapping and self._factories.speech_wish(transcript.text, True)
        self._tell(Transcribed(turn, transcript, at, wish))
        return_freed_memory()

    def _drop(self) -> None:
        if self._recognition:
            self._recognition.close()
        self._recognition = None
        self._turn = None
        self._partial = self._peek = ""
        self._interim = None
        self._ended = False

    def _tick(self) -> float | None:
        """Show the words so far, once the waiting audio is decoded."""
        if self._recognition is None or self._ended:
            self._load_wanted()
        if self._recognition and self._turn is not None and not self._ended:
            peek = self._recognition.peek()
            if peek != self._peek:
                self._peek = peek
                self._tell(Peeked(self._turn, peek, self._factories.speech_wish(peek, False)))
            partial = self._recognition.partial()
            if partial != self._partial:
                self._partial = partial
                self._tell(PartialTranscript(self._turn, partial))
        return None

    def _unknown(self, error: Exception) -> EngineError:
        return RecogniserError(
            "The speech recogniser failed: {error}", hint="Say it again, or type.", error=error
        )

    def _fail(self, error: EngineError) -> None:
        turn = self._turn
        self._drop()
        self._tell(Failed.of(error, Part.RECOGNISER, turn))
