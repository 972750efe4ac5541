"""One utterance for one client: text in as it is written, a rate that may change at any moment,
sound out as it is made.

Invariant: a step is made only when the client asks for the next frame, so a client that does not
read costs nothing but its place, which it has from the first frame to the last. Everything belongs
to the event loop's thread but what is marked as the model's, where one call is made at a time.
"""

import asyncio
import math
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from engine.audio.pcm import Pcm, Resampler
from engine.errors import InvalidInput, TimedOut
from engine.text.stream.paced import Growth, PacedText
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Starved, Step, TtsModel, TtsSession

if TYPE_CHECKING:
    from engine.serve.service import Service

SAMPLE_RATE: Final = 24_000  # Hz of all speech that leaves a server
LEAD_MS: Final = 240  # as in the window: so late a new rate is heard, at most
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
        return self.sample * 1000 // SAMPLE_RATE


class Speech:
    """`id` cannot be guessed; `rate` (SPS) may be set at any moment, None = as the person chose;
    `words` are those given out so far, `given_ms` how much sound.
    """

    def __init__(self, service: "Service", voice: str, rate: float | None, longest: int) -> None:
        """`voice`: its name, empty for the person's own; `longest`: characters of text."""
        self.id = service.name + secrets.token_urlsafe(12)
        self.rate = rate
        self.stopped = False
        self.words: list[SpokenWord] = []
        self._service = service
        self._voice = voice
        self._longest = longest
        self._now = service.clock.now
        self._paced = PacedText(pacing=service.settings.speech.pacing)
        self._unread: deque[str] = deque()
        self._characters = 0
        self._text_ended = self._input_ended = False
        self._shown: list[str] = []
        self._pushed: list[Word] = []
        self._samples = 0  # given out
        self._opened_at = self._began_at = math.inf  # s; of the listener's first sample
        self._news = asyncio.Event()

    def write(self, text: str) -> None:
        """More of the text, as a language model writes it; any string is allowed. InvalidInput when
        it becomes too long, or has ended.
        """
        if self._text_ended:
            raise InvalidInput("The text has ended already.")
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
        return self._now() - self._opened_at - self._samples / SAMPLE_RATE

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
        rate = self._service.sample_rate
        resampler = Resampler(rate, SAMPLE_RATE)
        async with self._service.place(self) as thread, aclosing(thread.each(self._steps)) as steps:
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

    def _given(self, pcm: Pcm, words: tuple[SpokenWord, ...]) -> SpeechFrame:
        frame = SpeechFrame(pcm, self._samples, words)
        self._began_at += max(0.0, -self._ahead_s)  # a listener who ran dry goes on from now
        self._samples += len(pcm)
        self.words += words
        return frame

    @property
    def _ahead_s(self) -> float:
        """How far the sound is ahead of somebody who listens from the first sample on; below 0 that
        listener has heard silence.
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
            raise TimedOut("Nothing came for {seconds} seconds.", seconds=f"{idle_s:g}") from error

    # ------------------------------------------------------------- on the model's thread

    def _steps(self, model: TtsModel) -> Generator[Step, None, None]:
        """A Starved once it is open, then what the session gives."""
        service = self._service
        with model.open(
            service.voice(model, self._voice), seed=service.settings.speech.seed
        ) as session:
            yield Starved()
            while True:
                session.rate = service.settings.speech.rate if self.rate is None else self.rate
                came = self._read(session)
                step = session.step()
                if not (isinstance(step, Starved) and came):
                    yield step

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
