"""The models of a server, each owned by a thread, with calls for coroutines.

Invariant: the first call loads the model. Calls run one by one in their order, so clients with one
call at a time take turns. The call of a cancelled caller is skipped, or completed if it has begun.
Clients get no private data: no name, and no file that a skill would read aloud. Actions of skills
on this computer are refused.
"""

import asyncio
import logging
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from concurrent.futures import Future
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar, cast

import numpy as np

from engine.asr.base import SAMPLE_RATE, Recogniser, Transcript
from engine.asr.completeness import Completeness
from engine.asr.pick import resolve
from engine.audio.clips.clip import read_clip
from engine.audio.pcm import Pcm, Resampler
from engine.audio.vad import Stretch, find_speech
from engine.errors import EngineError, InvalidInput, ModelError
from engine.languages import SPOKEN
from engine.llm import base as llm
from engine.llm.base import ChangeRate, LanguageModel, TextDelta
from engine.llm.history import ChatMessage
from engine.llm.tools.rounds import Completer
from engine.llm.tools.toolbox import ToolCall, ToolSchema
from engine.runtime.factories import Factories
from engine.runtime.workers.worker import Worker
from engine.serve.limits import Limits
from engine.settings import LanguageModelSettings, RecogniserSettings
from engine.text.language_choice import language_of

log = logging.getLogger(__name__)

LONGEST_S: Final = 7_200.0  # of a recording
CHUNK_S: Final = 300.0  # of a recording that is in memory at once
_REST_S: Final = 1.0  # a rest of less than half of this joins the chunk before it
NOT_HERE: Final = "That only works in the window of Rubato."
_SEGMENT: Final = 20 * SAMPLE_RATE  # samples; Whisper decodes 30 s at once
_PAUSE: Final = SAMPLE_RATE * 4 // 5  # samples that end a segment
_STOP_S: Final = 10.0  # for the running call; the longest step of a voice takes far less


class Closable(Protocol):
    """An object that can be released."""

    def close(self) -> None: ...


M = TypeVar("M", bound=Closable)
T = TypeVar("T")


class ModelThread(Generic[M]):
    """Started at once; stop() releases the model and joins it."""

    def __init__(self, name: str, load: Callable[[], M]) -> None:
        self._load = load
        self._model: M | None = None  # None = not loaded yet
        self._worker: Worker[Callable[[], None]] = Worker(
            name,
            handle=lambda job: job(),
            tick=lambda: None,
            report=lambda error: log.error("a call failed kind=%s", type(error).__name__),
        )
        self._worker.start()

    async def call(self, function: Callable[[M], T]) -> T:
        """Return the result of `function`, or raise its error."""
        future: Future[T] = Future()
        self.post(partial(self._answer, future, function))
        return await asyncio.wrap_future(future)

    async def each(self, begin: Callable[[M], Generator[T, None, None]]) -> AsyncGenerator[T, None]:
        """Yield the values of a generator, with one call for each; it is closed with this one."""
        values = await self.call(begin)
        try:
            while (value := await self.call(lambda model: next(values, None))) is not None:
                yield value
        finally:
            self.post(values.close)

    def post(self, job: Callable[[], None]) -> None:
        """Queue a job without waiting."""
        self._worker.post(job)

    def stop(self) -> bool:
        """Finish the queued calls and end; False if a call takes too long."""
        self.post(self._release)
        return self._worker.stop(_STOP_S)

    def _answer(self, future: Future[T], function: Callable[[M], T]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            if self._model is None:
                self._model = self._load()
            future.set_result(function(self._model))
        except Exception as error:  # noqa: BLE001 - raised by the waiting coroutine
            future.set_exception(error)

    def _release(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None


# --------------------------------------------------------------------------- the recogniser


@dataclass(frozen=True)
class Segment:
    """Text from `start_s` to `end_s` of a recording."""

    text: str
    start_s: float
    end_s: float
    language: str


@dataclass
class Recording:
    """A file to transcribe. `language`: a code, empty = the user's; `seconds`: length of the part
    that has been read.
    """

    path: Path
    language: str = ""
    seconds: float = 0.0


class RecogniserThread(ModelThread[Recogniser]):
    """The recogniser. It opens one utterance at a time, so each is passed on complete, and clients
    that speak at once take turns. `recordings`: number of those being sent or waiting.
    """

    def __init__(self, settings: RecogniserSettings, factories: Factories, limits: Limits) -> None:
        load = partial(factories.recogniser, settings)
        super().__init__("recogniser of the server", lambda: load(factories.phrases()))
        self._settings = settings = resolve(settings)
        self._completeness = factories.completeness
        self._language = settings.language
        self._limits = limits
        self.recordings = 0
        self._places = asyncio.Semaphore(limits.slots)

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Count a recording while it is sent and transcribed. Busy if there are too many."""
        if self.recordings >= self._limits.slots + self._limits.queue:
            raise self._limits.busy()
        self.recordings += 1
        try:
            yield
        finally:
            self.recordings -= 1

    async def load_ahead(self) -> None:
        """Load the recogniser before a client needs it. After a fault the first client that needs
        it loads it again, and gets the fault.
        """
        try:
            await self.call(lambda recogniser: None)
        except EngineError as error:
            log.warning("The recogniser is not loaded. %s", error)
        else:
            log.info("the recogniser is loaded")

    async def recording(self, recording: Recording) -> AsyncGenerator[Segment, None]:
        """Transcribe a file as segments() does, once a slot is free. It is read in chunks, because
        an hour takes half a gigabyte. UnreadableClip; InvalidInput beyond LONGEST_S.
        """
        more = True
        async with self._places:
            while more:
                start_s = recording.seconds
                pcm, more = await self._read(recording.path, start_s)
                parts = await self._portions(pcm)
                end = len(pcm)
                if more and parts and parts[-1].end > end - _PAUSE:
                    end = parts.pop().start  # it may continue in the next chunk
                async for segment in self.segments(pcm, recording.language, parts, start_s):
                    yield segment
                recording.seconds = start_s + end / SAMPLE_RATE

    async def _read(self, path: Path, start_s: float) -> tuple[Pcm, bool]:
        """Return a chunk of a recording: samples [S] at 16 kHz, and whether more follow."""
        gone = False

        def read(recogniser: Recogniser) -> tuple[Pcm, bool]:
            longest_s = CHUNK_S + _REST_S
            clip = read_clip(path, max_seconds=longest_s, start_s=start_s, cancelled=lambda: gone)
            if max(clip.file_s or 0.0, start_s + clip.seconds) > LONGEST_S:
                raise InvalidInput(
                    "The recording is longer than {minutes} minutes.",
                    hint="Send it in parts.",
                    minutes=round(LONGEST_S / 60),
                )
            resampler = Resampler(clip.sample_rate, SAMPLE_RATE)
            pcm = np.concatenate([resampler.push(clip.pcm), resampler.end()])
            more = clip.seconds > longest_s - _REST_S / 2
            return pcm[: round(CHUNK_S * SAMPLE_RATE)] if more else pcm, more

        try:
            return await self.call(read)
        finally:
            gone = True

    async def transcript(self, pcm: Pcm, language: str = "") -> Transcript:
        """Transcribe samples [S] at 16 kHz. `language` is a code, empty: the user's. InvalidInput
        for an unsupported one; RecogniserError, ModelError.
        """
        return await self.call(lambda recogniser: self._hear(recogniser, pcm, language))

    async def segments(
        self,
        pcm: Pcm,
        language: str = "",
        parts: Iterable[Stretch] | None = None,
        from_s: float = 0.0,
    ) -> AsyncIterator[Segment]:
        """Transcribe samples as transcript() does; yield each segment as soon as its stretch of
        speech was decoded. `parts`: these stretches, None = all. The samples begin at `from_s`.
        """
        for part in await self._portions(pcm) if parts is None else parts:
            heard = await self.transcript(pcm[part.start : part.end], language)
            if heard.text:
                start_s, end_s = part.start / SAMPLE_RATE, part.end / SAMPLE_RATE
                language_heard = heard.language or self._language
                yield Segment(heard.text, from_s + start_s, from_s + end_s, language_heard)

    async def _portions(self, pcm: Pcm) -> list[Stretch]:
        return await self.call(lambda recogniser: portions(find_speech(pcm)))

    async def completeness(self, text: str) -> Completeness:
        """Return how complete a text is."""
        return await self.call(lambda recogniser: self._completeness(self._settings)(text))

    def _hear(self, recogniser: Recogniser, pcm: Pcm, language: str) -> Transcript:
        language = language or self._settings.language
        if language != self._language:
            try:
                recogniser.adjust(replace(self._settings, language=language))
            except ModelError as error:
                raise InvalidInput(error.message, hint=error.hint) from error
            self._language = language
        with closing(recogniser.open()) as recognition:
            for at in range(0, len(pcm), SAMPLE_RATE):
                recognition.push(pcm[at : at + SAMPLE_RATE])
            return recognition.finish()


def portions(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Join neighbouring stretches as far as they fit into one segment; cut longer ones."""
    joined: list[Stretch] = []
    for each in stretches:
        near = bool(joined) and each.start - joined[-1].end < _PAUSE
        if near and each.end - joined[-1].start <= _SEGMENT:
            joined[-1] = Stretch(joined[-1].start, each.end)
        else:
            joined.append(each)
    return [
        Stretch(start, min(start + _SEGMENT, each.end))
        for each in joined
        for start in range(each.start, each.end, _SEGMENT)
    ]


# ----------------------------------------------------------------------- the language model


class ReplyThread(ModelThread[LanguageModel]):
    """The language model, with one reply at a time."""

    def __init__(self, settings: LanguageModelSettings, factories: Factories) -> None:
        load = partial(factories.language_model, settings, lambda phrase, share: None)
        super().__init__("language model of the server", load)
        self._turn = asyncio.Lock()

    async def reply(
        self, history: Sequence[llm.Message], rate: float | None = None
    ) -> AsyncGenerator[TextDelta | ChangeRate, None]:
        """Answer the last user message, in its language; closing this ends the work. `rate` (SPS)
        is that of the speech to the client. LanguageModelError, ModelError.
        """
        if history and history[-1].role is llm.Role.USER:
            *before, asked = history
            code = language_of(asked.text, llm.last_language(before), tuple(SPOKEN))
            history = (*before, replace(asked, language=code))
        state = llm.AssistantState(rate=rate, volume=1.0, voice="", voices=(), has_window=False)
        each = self.each(lambda model: model.reply(history, lambda: state))
        async with self._turn, aclosing(each):
            async for delta in each:
                match delta:
                    case TextDelta(private=False) | ChangeRate():
                        yield delta
                    case llm.StopSpeaking():
                        return
                    case _ if isinstance(delta, TextDelta | llm.Action):
                        yield TextDelta(NOT_HERE)  # a file's text, or an action on this computer
                        return

    async def complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema]
    ) -> AsyncGenerator[TextDelta | ToolCall, None]:
        """The same for a client with its own functions, which it executes itself; for a model that
        can_call().
        """
        each = self.each(lambda model: cast("Completer", model).complete(messages, tools))
        async with self._turn, aclosing(each):
            async for piece in each:
                if isinstance(piece, ToolCall):
                    yield piece
                elif isinstance(piece, str):
                    yield TextDelta(piece)

    async def can_call(self) -> bool:
        """Return whether the language model supports other functions than the skills."""
        return await self.call(lambda model: isinstance(model, Completer))
