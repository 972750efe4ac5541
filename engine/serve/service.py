"""The engine shared by all protocols: speech() for an utterance of a client, `ears` for
transcripts, `language_model` for answers.

Invariant: one synthesiser, owned by one thread, speaks for all clients; every utterance has its own
session, and its sound does not depend on the others. A step is made only when the client takes the
next frame, so a client that does not read costs only its slot, which it has from the first frame to
the last; slots are assigned in order of arrival. Everything that a client can send, hold or wait
for has a limit here. The window's conversation is not in this process. Methods run on the event
loop, except those under "on the model's thread", where one call is made at a time.
"""

import asyncio
import logging
import math
import re
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, assert_never

from engine.audio.pcm import Pcm, Resampler
from engine.audio.vad import Vad
from engine.errors import Cancelled, EngineError, InvalidInput, TimedOut
from engine.names_file import in_force
from engine.runtime.factories import Factories
from engine.runtime.headless.say_command import load_synthesiser
from engine.runtime.turn.breaks import Breaks
from engine.serve.limits import Clock, Limits
from engine.serve.models import ModelThread, RecogniserThread, ReplyThread
from engine.serve.voices import ServedVoices, languages_by_name
from engine.settings import Settings
from engine.text.paced import Growth, PacedText
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Starved, Step, TtsModel, Voice

log = logging.getLogger(__name__)

SAMPLE_RATE: Final = 24_000  # Hz of all speech that leaves a server
LEAD_MS: Final = 240  # as in the window: the longest delay of a new rate
OWN_PACE: Final = 4.5  # SPS; approximate own pace of the voices
_LOOK_S: Final = 1.0  # how often waiting utterances look for an unused slot
_BEGINNING_S, _BEGINNING_MS = 0.1, 160  # longest beginning of an utterance: time, length of sound
_AT_ONCE: Final = 32  # words; a voice looks some ten ahead
_PIECE: Final = 200  # characters read at once of a text without spaces


class Service:
    """start() loads the voice; the rest is loaded on demand or ahead. EngineErrors raised here are
    for the client. `speeches` are the running ones by id; `own_pace` is the rate of speed 1, in
    SPS; `thread` owns the synthesiser.
    """

    def __init__(
        self,
        settings: Settings,
        factories: Factories,
        limits: Limits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.factories = factories
        self.limits = limits or Limits()
        self.clock = clock or Clock()
        self.own_pace = settings.speech.rate or OWN_PACE
        self.ears = RecogniserThread(settings.recogniser, factories, self.limits)
        self.language_model = ReplyThread(settings.language_model, factories)
        self.sample_rate = 0  # Hz of the synthesiser; until start()
        self.speeches: dict[str, Speech] = {}
        self.waiting = 0  # for a slot
        # Held by an opening utterance: its first step is long, and others may have only one frame.
        self.opening = asyncio.Lock()
        self._places = asyncio.Semaphore(self.limits.slots)
        self.thread = ModelThread(
            "voice of the server", lambda: load_synthesiser(settings.speech, factories)
        )
        self._voices = ServedVoices(settings.speech)

    async def start(self) -> None:
        """Load the synthesiser and the user's voice. ModelError if the former fails."""
        self.sample_rate = await self.thread.call(lambda model: model.info.sample_rate)
        await self.thread.call(self._voices.begin)

    def stop(self) -> bool:
        """End every utterance and release the models; False if a thread hangs."""
        for speech in self.speeches.values():
            speech.stop(Cancelled("The server has ended."))
        ended = (self.thread.stop(), self.ears.stop(), self.language_model.stop())
        return all(ended)

    async def voices(self) -> dict[str, str]:
        """Return the names for speech() with the code of their language; the synthesiser's default
        is the first.
        """
        return await self.thread.call(languages_by_name)

    async def check_voice(self, name: str) -> None:
        """InvalidInput for a voice that does not exist."""
        await self.thread.call(lambda model: self._voices.find(model, name))

    async def load_detector(self) -> None:
        """Load the voice detector, which all clients share; the first time takes a while."""
        await self.thread.call(lambda model: Vad())

    def speech(
        self,
        voice: str = "",
        rate: float | None = None,
        *,
        language: str = "",
        streamed: bool = False,
    ) -> "Speech":
        """Return an utterance. `voice` empty and `rate` (SPS) None: the user's choice; `language`:
        a code, for the user's voice of another language; `streamed`: more text may be written while
        it is spoken.
        """
        longest = self.limits.streamed_text if streamed else self.limits.text
        find = partial(self._voices.find, name=voice, language=language)
        return Speech(self, find, rate, longest)

    @asynccontextmanager
    async def place(self, speech: "Speech") -> AsyncIterator[ModelThread[TtsModel]]:
        """Wait for a slot and hold it; yields the synthesiser's thread. Busy if the queue is full,
        or moves too slowly.
        """
        if self._places.locked() and self.waiting >= self.limits.queue:
            raise self.limits.busy()
        looking = asyncio.ensure_future(self._look())
        self.waiting += 1
        try:
            async with asyncio.timeout(self.limits.idle_s):
                await self._places.acquire()
        except TimeoutError as error:
            raise self.limits.busy() from error
        finally:
            looking.cancel()
            self.waiting -= 1
        self.speeches[speech.id] = speech
        try:
            yield self.thread
        finally:
            del self.speeches[speech.id]
            self._places.release()

    async def _look(self) -> None:
        """While others wait, end utterances far behind their own sound, whose clients neither read
        nor write.
        """
        while True:
            for speech in self.speeches.values():
                if speech.late_s > self.limits.late_s:
                    speech.stop(
                        TimedOut("Too little was read or written while other clients waited.")
                    )
            await asyncio.sleep(_LOOK_S)


@dataclass(frozen=True)
class SpokenWord:
    """`text` as it is spoken; [start, end) is its span in the written text; `at_ms` is its start in
    the sound of the utterance.
    """

    text: str
    start: int
    end: int
    at_ms: int


@dataclass(frozen=True)
class SpeechFrame:
    """The next samples [S] at SAMPLE_RATE, from `sample` of the utterance on, and the `words` that
    begin in them.
    """

    pcm: Pcm
    sample: int
    words: tuple[SpokenWord, ...] = ()

    @property
    def at_ms(self) -> int:
        return self.sample * 1000 // SAMPLE_RATE


class Speech:
    """One utterance. `id` cannot be guessed; `rate` (SPS) may be set at any time, None = the
    user's; `words` were sent so far, with `given_ms` of sound. `stopped`: it was ended early.
    """

    def __init__(
        self,
        service: Service,
        find_voice: Callable[[TtsModel], Voice],
        rate: float | None,
        longest: int,
    ) -> None:
        """`longest`: limit of the text."""
        self.id = secrets.token_urlsafe(12)
        self.rate = rate
        self.stopped = False
        self._fault: EngineError | None = None  # why it was stopped; None = by request
        self.words: list[SpokenWord] = []
        self._service = service
        self._find_voice = find_voice
        self._longest = longest
        self._now = service.clock.now
        self._paced = PacedText(pacing=True)  # until the voice is known
        self._unread: deque[str] = deque()
        self._characters = 0
        self._text_ended = self._input_ended = False
        self._shown: list[str] = []
        self._pushed: list[Word] = []
        self._samples = 0  # sent
        self._opened_at = self._began_at = math.inf  # s; of the listener's first sample
        self._news = asyncio.Event()

    def write(self, text: str) -> None:
        """Append text, as a language model writes it; any string is allowed. InvalidInput if it
        becomes too long, or has ended.
        """
        if self._text_ended:
            raise InvalidInput("The text has already ended.")
        self._characters += len(text)
        if self._characters > self._longest:
            raise InvalidInput(
                "The text is too long: {count} characters.",
                hint="Give at most {most} at a time.",
                count=self._characters,
                most=self._longest,
            )
        for piece in re.findall(r"\s*\S+|\s+$", text):
            self._unread.extend(piece[at : at + _PIECE] for at in range(0, len(piece), _PIECE))
        self._news.set()

    def end(self) -> None:
        """End the text."""
        self._text_ended = True
        self._news.set()

    def stop(self, fault: EngineError | None = None) -> None:
        """Emit no further frame; frames() raises the `fault`, or ends if there is none."""
        self.stopped = True
        self._fault = self._fault or fault
        self._news.set()

    @property
    def text(self) -> str:
        """The text read so far; the spans of words refer to it."""
        return "".join(self._shown)

    @property
    def given_ms(self) -> int:
        return self._samples * 1000 // SAMPLE_RATE

    @property
    def late_s(self) -> float:
        """Delay behind its own sound, also of a client that writes or reads late."""
        return self._now() - self._opened_at - self._samples / SAMPLE_RATE

    @property
    def begins(self) -> bool:
        """Whether it has just opened, with hardly any sound yet."""
        return 0 <= self._now() - self._opened_at < _BEGINNING_S and self.given_ms < _BEGINNING_MS

    def text_until(self, at_ms: int) -> str:
        """Return the text of the words that began before this moment of the sound."""
        return self.text[: max((word.end for word in self.words if word.at_ms < at_ms), default=0)]

    async def frames(self, lead_ms: float | None = None) -> AsyncGenerator[SpeechFrame, None]:
        """Speak, once a slot is free. Waits for text until end(), and stays at most `lead_ms` ahead
        of a listener who begins with the first frame (None: as fast as frames are taken). The slot
        is held until this is closed. Busy if no slot is free soon, InvalidInput for an unknown
        voice, TimedOut if no text comes for too long or it gave way to others, SynthesisError if
        the voice fails, Cancelled when the server ends.
        """
        rate = self._service.sample_rate
        resampler = Resampler(rate, SAMPLE_RATE)
        async with self._service.place(self) as thread, aclosing(thread.each(self._steps)) as steps:
            async with self._service.opening:
                while any(each.begins for each in self._service.speeches.values()):
                    await self._service.clock.wait(0.005)
                await anext(steps)  # it is open
                self._opened_at = self._began_at = self._now()
            while await self._may_go_on(lead_ms):
                match await anext(steps):
                    case AudioFrame() as frame if not self.stopped:
                        words = tuple(
                            SpokenWord(word.text, word.start, word.end, onset.sample * 1000 // rate)
                            for onset in frame.onsets
                            for word in [self._pushed[onset.word]]
                        )
                        yield self._given(resampler.push(frame.pcm), words)
                    case Starved() | AudioFrame():
                        await self._wait_for_text()
                    case Finished():
                        if len(rest := resampler.end()):
                            yield self._given(rest, ())
                        return
                    case never:
                        assert_never(never)
        if self._fault is not None:
            raise self._fault

    def _given(self, pcm: Pcm, words: tuple[SpokenWord, ...]) -> SpeechFrame:
        frame = SpeechFrame(pcm, self._samples, words)
        self._began_at += max(0.0, -self._ahead_s)  # a listener who ran dry continues from now
        self._samples += len(pcm)
        self.words += words
        return frame

    @property
    def _ahead_s(self) -> float:
        """How far the sound is ahead of a listener since the first sample; below 0 there was
        silence.
        """
        return self._samples / SAMPLE_RATE - (self._now() - self._began_at)

    async def _may_go_on(self, lead_ms: float | None) -> bool:
        early_s = 0.0 if lead_ms is None else self._ahead_s - lead_ms / 1000
        if early_s > 0:
            await self._service.clock.wait(early_s)
        return not self.stopped

    async def _wait_for_text(self) -> None:
        idle_s = self._service.limits.idle_s
        try:
            async with asyncio.timeout(idle_s):
                while not (self._unread or self._text_ended or self.stopped):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as error:
            raise TimedOut(
                "No text arrived for {seconds} seconds.", seconds=f"{idle_s:g}"
            ) from error

    # ------------------------------------------------------------- on the model's thread

    def _steps(self, model: TtsModel) -> Generator[Step, None, None]:
        """Yield a Starved once it is open, then the session's steps."""
        service = self._service
        voice = self._find_voice(model)
        pacing = service.settings.speech.pacing
        self._paced = PacedText(pacing=pacing, usual=voice.language, names=in_force())
        opened = model.open(voice, seed=service.settings.speech.seed)
        with Breaks(opened, service.sample_rate) as session:
            yield Starved()
            while True:
                session.rate = service.settings.speech.rate if self.rate is None else self.rate
                came = self._read(session)
                step = session.step()
                if not (isinstance(step, Starved) and came):
                    yield step

    def _read(self, session: Breaks) -> bool:
        """Push the next words of the text; return whether there were any, or its end."""
        ended = self._text_ended  # before the last check for unread text
        before = len(self._pushed)
        while self._unread and len(self._pushed) < before + _AT_ONCE:
            self._push(session, self._paced.push(self._unread.popleft()))
        if ended and not self._unread and not self._input_ended:
            self._push(session, self._paced.end())
            session.end_input()
            self._input_ended = True
            return True
        return len(self._pushed) > before

    def _push(self, session: Breaks, growth: Growth) -> None:
        self._shown.append(growth.text)
        for word in growth.words:
            self._pushed.append(word)
            session.push(word)
