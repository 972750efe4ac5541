"""One utterance for one client: text in as it is written, a rate that may change at any moment,
sound out as it is made.

Invariant: a step is made only when somebody asks for the next frame, so a client that does not read
costs nothing but its place. Everything here but _step() belongs to the event loop's thread; _step()
runs on the model's thread, one call at a time.
"""

import asyncio
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, assert_never

from engine.audio.pcm import Pcm, Resampler
from engine.errors import InvalidInput, TimedOut
from engine.serve.limits import SAMPLE_RATE, Limits
from engine.serve.model_thread import ModelThread
from engine.text.stream.paced import Growth, PacedText
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Onset, Starved, Step, TtsSession

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
    """The next samples [S] at SAMPLE_RATE, from `sample` of the utterance on. `words` begin in it;
    `rate` is the measured SPS of the last 3 s, None before the first syllable ended.
    """

    pcm: Pcm
    sample: int
    words: tuple[SpokenWord, ...] = ()
    rate: float | None = None

    @property
    def at_ms(self) -> int:
        """Where it begins."""
        return self.sample * 1000 // SAMPLE_RATE


@dataclass
class _Progress:
    """How far the sound is ahead of somebody who began to listen with the first sample."""

    clock: Clock
    samples: int = 0
    began_at: float | None = None  # None = nothing was given out yet

    @property
    def ahead_s(self) -> float:
        """Below 0: that listener would have heard silence for so long, in all."""
        if self.began_at is None:
            return 0.0
        return self.samples / SAMPLE_RATE - (self.clock.now() - self.began_at)

    def add(self, samples: int) -> None:
        """A listener who ran dry goes on from now."""
        if self.began_at is None:
            self.began_at = self.clock.now()
        self.began_at += max(0.0, -self.ahead_s)
        self.samples += samples


@dataclass
class _Text:
    """What was written: not yet read, and what is shown of what was."""

    limit: int
    unread: deque[str] = field(default_factory=deque)
    characters: int = 0
    ended: bool = False
    shown: list[str] = field(default_factory=list)

    def write(self, text: str) -> None:
        if self.ended:
            raise InvalidInput("The text has ended already.")
        self.characters += len(text)
        if self.characters > self.limit:
            raise InvalidInput(
                "The text is too long: {count} characters.",
                hint="Give at most {most} at a time.",
                count=self.characters,
                most=self.limit,
            )
        for piece in re.findall(r"\s*\S+|\s+$", text):
            self.unread.extend(piece[at : at + _PIECE] for at in range(0, len(piece), _PIECE))


@dataclass(frozen=True)
class Terms:
    """What holds for an utterance: `longest` is how much text it may have, in characters."""

    limits: Limits
    longest: int
    pacing: bool = True
    clock: Clock = field(default_factory=Clock)


class Speech:
    """Made and closed by Service.speak(). `id` cannot be guessed; `rate` is the target in SPS (None
    = the voice's own pace) and may be set at any moment; `words` are those given out so far.
    """

    def __init__(
        self, thread: ModelThread, session: TtsSession, sample_rate: int, terms: Terms
    ) -> None:
        """`session` belongs to it from now on; `sample_rate` (Hz) is that of its frames."""
        self.id = secrets.token_urlsafe(12)
        self.rate: float | None = None
        self.words: list[SpokenWord] = []
        self._thread = thread
        self._session = session
        self._sample_rate = sample_rate
        self._terms = terms
        self._resampler = Resampler(sample_rate, SAMPLE_RATE)
        self._paced = PacedText(pacing=terms.pacing)
        self._text = _Text(terms.longest)
        self._pushed: list[Word] = []
        self._input_ended = False
        self._progress = _Progress(terms.clock)
        self._opened_at = terms.clock.now()
        self._news = asyncio.Event()
        self._paused = False
        self._stopped = False

    # ------------------------------------------------------------------- for a client

    def write(self, text: str) -> None:
        """More of the text, as a language model writes it; any string is allowed. InvalidInput when
        it becomes too long, or has ended.
        """
        self._text.write(text)
        self._news.set()

    def end(self) -> None:
        """No more text will come."""
        self._text.ended = True
        self._news.set()

    def pause(self) -> None:
        """Give no frame out before resume()."""
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._news.set()

    def stop(self) -> None:
        """Give no further frame out."""
        self._stopped = True
        self._news.set()

    @property
    def stopped(self) -> bool:
        """Whether stop() was called."""
        return self._stopped

    @property
    def text(self) -> str:
        """What was read of the text so far; the places of words are places in it."""
        return "".join(self._text.shown)

    @property
    def given_ms(self) -> int:
        """How much sound was given out."""
        return self._progress.samples * 1000 // SAMPLE_RATE

    def words_until(self, at_ms: int) -> list[SpokenWord]:
        """The words that began before this moment of the sound."""
        return [word for word in self.words if word.at_ms < at_ms]

    def text_until(self, at_ms: int) -> str:
        """The text of the words that began before this moment of the sound."""
        words = self.words_until(at_ms)
        return self.text[: words[-1].end] if words else ""

    async def frames(self, lead_ms: int | None = None) -> AsyncIterator[SpeechFrame]:
        """Speak. Waits for text until end(), and stays at most `lead_ms` ahead of somebody who
        listens from the first frame on (None: as fast as frames are taken). TimedOut when nothing
        comes, or a pause lasts, for too long; SynthesisError when the voice fails.
        """
        while await self._may_go_on(lead_ms):
            match await self._thread.call(self._step):
                case AudioFrame() as frame if not self._stopped:
                    yield self._given(frame)
                case Starved() | AudioFrame():
                    await self._wait_for(lambda: bool(self._text.unread) or self._text.ended)
                case Finished():
                    if len(rest := self._resampler.end()):
                        yield self._sounding(rest)
                    return
                case never:
                    assert_never(never)

    # ------------------------------------------------------------------ for the service

    @property
    def late_s(self) -> float:
        """How much longer it has taken than it sounds, whoever is to blame: a client that writes,
        reads or resumes too late.
        """
        return self._terms.clock.now() - self._opened_at - self._progress.samples / SAMPLE_RATE

    def close(self) -> None:
        """Release the session, after the step that is being made."""
        self.stop()
        self._thread.post(self._session.close)

    async def _may_go_on(self, lead_ms: int | None) -> bool:
        await self._wait_for(lambda: not self._paused)
        if lead_ms is not None:
            early_s = self._progress.ahead_s - lead_ms / 1000
            if early_s > 0:
                await self._terms.clock.wait(early_s)
        return not self._stopped

    async def _wait_for(self, condition: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(self._terms.limits.idle_s):
                while not (condition() or self._stopped):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as error:
            raise TimedOut(
                "Nothing came for {seconds} seconds.", seconds=f"{self._terms.limits.idle_s:g}"
            ) from error

    def _given(self, frame: AudioFrame) -> SpeechFrame:
        words = tuple(self._spoken(onset) for onset in frame.onsets)
        self.words += words
        return self._sounding(self._resampler.push(frame.pcm), words, frame.rate)

    def _sounding(
        self, pcm: Pcm, words: tuple[SpokenWord, ...] = (), rate: float | None = None
    ) -> SpeechFrame:
        sample = self._progress.samples
        self._progress.add(len(pcm))
        return SpeechFrame(pcm, sample, words, rate)

    def _spoken(self, onset: Onset) -> SpokenWord:
        word = self._pushed[onset.word]
        return SpokenWord(word.text, word.start, word.end, onset.sample * 1000 // self._sample_rate)

    # ------------------------------------------------------------- on the model's thread

    def _step(self) -> Step:
        self._session.rate = self.rate
        while True:
            came = self._read()
            step = self._session.step()
            if not (isinstance(step, Starved) and came):
                return step

    def _read(self) -> bool:
        """Push the next words of the text; whether there were any, or its end."""
        ended = self._text.ended  # before the last look at what is unread
        before = len(self._pushed)
        while self._text.unread and len(self._pushed) < before + _AT_ONCE:
            self._push(self._paced.push(self._text.unread.popleft()))
        if ended and not self._text.unread and not self._input_ended:
            self._push(self._paced.end())
            self._session.end_input()
            self._input_ended = True
            return True
        return len(self._pushed) > before

    def _push(self, growth: Growth) -> None:
        self._text.shown.append(growth.text)
        for word in growth.words:
            self._pushed.append(word)
            self._session.push_word(word.text, word.pace)
