"""This machine's own loudspeaker and microphone, for programs that let it speak to its person.

Invariant: one text is said after the other. A device is open only while it is used; what it hears
is kept only until it was written down.
"""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from engine.audio.base import Loudspeaker
from engine.audio.pcm import Resampler
from engine.audio.vad import SpeechEnded
from engine.errors import Busy, EngineError, InvalidInput
from engine.runtime.factories import Factories
from engine.runtime.turn.endpointing import Patience
from engine.runtime.turn.playback import Playback
from engine.serve.doors.realtime.microphone import ClientMicrophone
from engine.serve.limits import LEAD_MS, SAMPLE_RATE
from engine.serve.service import Service, Wish
from engine.serve.speech import Speech, SpeechFrame
from engine.text.word import Word
from engine.tts.base import AudioFrame, Onset

_TICK_S: Final = 0.02
_MOST: Final = 16  # texts that wait
_SENTENCE: Final = re.compile(r"(?<=[.!?\u2026])[\"')\]\u201d\u2019]*\s+")


@dataclass(frozen=True)
class _Text:
    text: str
    wish: Wish


class Room:
    """Speaks once start() was called, until stop()."""

    def __init__(self, service: Service, factories: Factories) -> None:
        self._service = service
        self._factories = factories
        self._waiting: asyncio.Queue[_Text] = asyncio.Queue(_MOST)
        self._task: asyncio.Task[None] | None = None  # None = nothing is being said
        self._speech: Speech | None = None  # of it
        self._playback: Playback | None = None
        self._loudspeaker: Loudspeaker | None = None
        self._rate: float | None = None  # SPS, for what is said from now on; None = the person's
        self._skip = 0  # sentences
        self._paused = False

    # ---------------------------------------------------------------------- speaking

    def say(self, text: str, voice: str = "", rate: float | None = None) -> None:
        """Say this after all that waits. Busy when too much does, InvalidInput for a long text."""
        if len(text) > self._service.limits.text:
            raise InvalidInput("Give at most {most} at a time.", most=self._service.limits.text)
        try:
            self._waiting.put_nowait(_Text(text, Wish(voice, rate)))
        except asyncio.QueueFull as error:
            raise Busy("Too much waits to be said already.") from error
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._speak())

    def set_rate(self, rate: float | None) -> None:
        """SPS; at once, and for all that follows. None = the person's own."""
        self._rate = rate
        if self._speech is not None:
            self._speech.rate = rate

    def pause(self) -> None:
        self._paused = True
        if self._playback is not None and self._loudspeaker is not None:
            self._playback.hush()
            self._loudspeaker.cut()

    def resume(self) -> None:
        self._paused = False
        if self._playback is not None:
            self._playback.resume()

    def skip(self, sentences: int) -> None:
        """Go on that many sentences later, or before where it is negative; 0 begins this one anew.
        InvalidInput when nothing is being said.
        """
        if self._speech is None:
            raise InvalidInput("Nothing is being said.")
        self._skip = sentences
        self._speech.stop()

    async def stop(self) -> None:
        """Be silent, and forget what waits."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, EngineError):
                await self._task
            self._task = None

    async def said(self) -> None:
        """Wait until nothing is left to say. Raises the EngineError that ended it."""
        if self._task is not None:
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.result()

    async def _speak(self) -> None:
        settings = self._service.settings.audio
        self._loudspeaker = self._factories.loudspeaker(settings.loudspeaker)
        self._loudspeaker.gain = settings.volume
        try:
            while not self._waiting.empty():
                await self._tell(self._waiting.get_nowait(), self._loudspeaker)
        finally:
            self._loudspeaker.cut()
            self._loudspeaker.close()
            self._loudspeaker = self._speech = self._playback = None

    async def _tell(self, text: _Text, loudspeaker: Loudspeaker) -> None:
        starts = [0, *(found.end() for found in _SENTENCE.finditer(text.text))]
        at = 0
        while at < len(text.text):
            rest = text.text[at:]
            heard = await self._play(_Text(rest, text.wish), loudspeaker)
            if heard is None:
                return
            loudspeaker.cut()
            now = sum(start <= at + heard for start in starts) - 1
            wanted = max(0, now + self._skip)
            if wanted >= len(starts):
                return
            at = starts[wanted]

    async def _play(self, text: _Text, loudspeaker: Loudspeaker) -> int | None:
        """Where in the text (character) it was skipped; None = it was said to its end."""
        async with self._service.speak(text.wish) as speech:
            if text.wish.rate is None and self._rate is not None:
                speech.rate = self._rate
            speech.write(text.text)
            speech.end()
            playback = Playback(loudspeaker, SAMPLE_RATE)
            self._speech, self._playback = speech, playback
            if self._paused:
                playback.hush()
            async for frame in speech.frames():
                _add(playback, frame)
                await self._until(playback, speech, LEAD_MS)
            playback.complete()
            await self._until(playback, speech, 0)
            if not speech.stopped:
                return None
            words = playback.delivery().words
            return words[-1].start if words else 0

    async def _until(self, playback: Playback, speech: Speech, lead_ms: int) -> None:
        """Wait until no more than this is ahead of the ear (0 = until it is over)."""
        while not speech.stopped and (
            playback.hushed or (playback.lead_ms > lead_ms if lead_ms else not playback.over)
        ):
            playback.pump()
            await self._service.clock.wait(_TICK_S)

    # ----------------------------------------------------------------------- hearing

    async def listen(self, longest_s: float) -> str:
        """What somebody says next; empty when nobody does in time. DeviceError."""
        settings = self._service.settings
        microphone = self._factories.microphone(settings.audio.microphone)
        ear, clock = ClientMicrophone(), self._service.clock
        resampler = Resampler(microphone.sample_rate, SAMPLE_RATE)
        ear.listen(Patience.of(settings.recogniser.patience))
        end_at = clock.now() + longest_s
        try:
            while clock.now() < end_at:
                shown = ear.push(resampler.push(microphone.read()))
                if any(isinstance(event, SpeechEnded) for event in shown):
                    break
                await clock.wait(_TICK_S)
            return (await self._service.ears.transcript(ear.take())).text
        finally:
            microphone.close()


def _add(playback: Playback, frame: SpeechFrame) -> None:
    onsets = tuple(Onset(0, word.at_ms * SAMPLE_RATE // 1000) for word in frame.words)
    words = tuple(Word(word.text, word.start, word.end) for word in frame.words)
    playback.feeding()
    playback.add(AudioFrame(frame.pcm, frame.sample, onsets), words, None)
