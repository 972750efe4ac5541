"""One utterance for one client: text in as it is written, a rate that may change at any moment,
sound out as it is made.

Invariant: a step is made only when the client asks for the next frame, so a client that does not
read costs nothing but its place, which it has from the first frame to the last. Everything here but
_step() belongs to the event loop's thread; _step() runs on the model's thread, one call at a time.
"""

import asyncio
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, assert_never

from engine.audio.pcm import Pcm, Resampler
from engine.errors import InvalidInput, TimedOut
from engine.serve.limits import SAMPLE_RATE
from engine.serve.model_thread import ModelThread
from engine.text.stream.paced import Growth, PacedText
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Starved, Step, TtsModel, TtsSession

_AT_ONCE: Final = 32  # words; a voice looks some ten ahead
_PIECE: Final = 200  # characters of a text without spaces that are read at once


@dataclass(frozen=True)
class Clock:
    """Where time comes from; tests give a hand-stepped one."""

    now: Callable[[], float] = time.monotonic  # s
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep  # s


@dataclass(frozen=True)
class SpokenWord:
    """`text` as it is spoken; [start, end) is what it stands for in the text that was written;
    `at_ms` is when it begins in the sound of its utterance.
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
        """Where it begins."""
        return self.sample * 1000 // SAMPLE_RATE


@dataclass(frozen=True)
class Opened:
    """A session on the thread that it belongs to; `sample_rate` (Hz) is that of its frames."""

    thread: ModelThread[TtsModel]
    session: TtsSession
    sample_rate: int


@dataclass(frozen=True)
class Terms:
    """What holds for an utterance: `voice` is its name, empty for the person's own; `rate` (SPS) is
    the person's own, None = the voice's; `longest` is how much text it may have, in characters;
    `idle_s` is how long it waits for more.
    """

    voice: str = ""
    rate: float | None = None
    pacing: bool = True
    longest: int = 4_096
    idle_s: float = 60.0
    clock: Clock = field(default_factory=Clock)
    engine: str = ""  # begins the id


class Speech:
    """`id` cannot be guessed; `rate` (SPS) may be set at any moment, None = as the person chose;
    `words` are those given out so far, `given_ms` how much sound.
    """

    def __init__(
        self,
        terms: Terms,
        place: Callable[["Speech"], AbstractAsyncContextManager[Opened]],
    ) -> None:
        """`place` gives the session once it can be spoken, and takes it back."""
        self.id = terms.engine + secrets.token_urlsafe(12)
        self.terms = terms
        self.rate: float | None = None
        self.stopped = False
        self.words: list[SpokenWord] = []
        self._place = place
        self._paced = PacedText(pacing=terms.pacing)
        self._unread: deque[str] = deque()
        self._characters = 0
        self._text_ended = self._input_ended = False
        self._shown: list[str] = []
        self._pushed: list[Word] = []
        self._samples = 0  # given out
        self._opened_at = self._began_at = 0.0
        self._news = asyncio.Event()

    def write(self, text: str) -> None:
        """More of the text, as a language model writes it; any string is allowed. InvalidInput when
        it becomes too long, or has ended.
        """
        if self._text_ended:
            raise InvalidInput("The text has ended already.")
        self._characters += len(text)
        if self._characters > self.terms.longest:
            raise InvalidInput(
                "The text is too long: {count} characters.",
                hint="Give at most {most} at a time.",
                count=self._characters,
                most=self.terms.longest,
            )
        for piece in re.findall(r"\s*\S+|\s+$", text):
            self._unread.extend(piece[at : at + _PIECE] for at in range(0, len(piece), _PIECE))
        self._news.set()

    def end(self) -> None:
        """No more text will come."""
        self._text_ended = True
        self._news.set()

    def stop(self) -> None:
        """Give no further frame out."""
        self.stopped = True
        self._news.set()

    @property
    def text(self) -> str:
        """What was read of the text so far; the places of words are places in it."""
        return "".join(self._shown)

    @property
    def given_ms(self) -> int:
        return self._samples * 1000 // SAMPLE_RATE

    @property
    def late_s(self) -> float:
        """How much longer it has taken than it sounds, whoever is to blame: a client that writes or
        reads too late.
        """
        return self.terms.clock.now() - self._opened_at - self._samples / SAMPLE_RATE

    def text_until(self, at_ms: int) -> str:
        """The text of the words that began before this moment of the sound."""
        return self.text[: max((word.end for word in self.words if word.at_ms < at_ms), default=0)]

    async def frames(self, lead_ms: float | None = None) -> AsyncGenerator[SpeechFrame, None]:
        """Speak, once there is a place. Waits for text until end(), and stays at most `lead_ms`
        ahead of somebody who listens from the first frame on (None: as fast as frames are taken).
        The place is kept until this is closed. Busy when there is no place soon, InvalidInput for
        an unknown voice, TimedOut when no text comes for too long, SynthesisError when the voice
        fails.
        """
        async with self._place(self) as opened:
            self._opened_at = self.terms.clock.now()
            resampler = Resampler(opened.sample_rate, SAMPLE_RATE)
            while await self._may_go_on(lead_ms):
                match await opened.thread.call(lambda model: self._step(opened.session)):
                    case AudioFrame() as frame if not self.stopped:
                        words = tuple(
                            SpokenWord(word.text, word.start, word.end, at_ms)
                            for onset in frame.onsets
                            for word in [self._pushed[onset.word]]
                            for at_ms in [onset.sample * 1000 // opened.sample_rate]
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

    def _given(self, pcm: Pcm, words: tuple[SpokenWord, ...]) -> SpeechFrame:
        frame = SpeechFrame(pcm, self._samples, words)
        if not self._samples:
            self._began_at = self.terms.clock.now()
        self._began_at += max(0.0, -self._ahead_s)  # a listener who ran dry goes on from now
        self._samples += len(pcm)
        self.words += words
        return frame

    @property
    def _ahead_s(self) -> float:
        """How far the sound is ahead of somebody who listens from the first sample on; below 0 that
        listener has heard silence.
        """
        if not self._samples:
            return 0.0
        return self._samples / SAMPLE_RATE - (self.terms.clock.now() - self._began_at)

    async def _may_go_on(self, lead_ms: float | None) -> bool:
        early_s = 0.0 if lead_ms is None else self._ahead_s - lead_ms / 1000
        if early_s > 0:
            await self.terms.clock.wait(early_s)
        return not self.stopped

    async def _wait_for_text(self) -> None:
        try:
            async with asyncio.timeout(self.terms.idle_s):
                while not (self._unread or self._text_ended or self.stopped):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as error:
            raise TimedOut(
                "Nothing came for {seconds} seconds.", seconds=f"{self.terms.idle_s:g}"
            ) from error

    # ------------------------------------------------------------- on the model's thread

    def _step(self, session: TtsSession) -> Step:
        session.rate = self.terms.rate if self.rate is None else self.rate
        while True:
            came = self._read(session)
            step = session.step()
            if not (isinstance(step, Starved) and came):
                return step

    def _read(self, session: TtsSession) -> bool:
        """Push the next words of the text; whether there were any, or its end."""
        ended = self._text_ended  # before the last look at what is unread
        before = len(self._pushed)
        while self._unread and len(self._pushed) < before + _AT_ONCE:
            self._push(session, self._paced.push(self._unread.popleft()))
        if ended and not self._unread and not self._input_ended:
            self._push(session, self._paced.end())
            session.end_input()
            self._input_ended = True
            return True
        return len(self._pushed) > before

    def _push(self, session: TtsSession, growth: Growth) -> None:
        self._shown.append(growth.text)
        for word in growth.words:
            self._pushed.append(word)
            session.push_word(word.text, word.pace)
