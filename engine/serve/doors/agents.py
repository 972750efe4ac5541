"""The tools of Rubato for agents that speak MCP: over the standard streams of a process of its own,
or at /mcp. They use this machine's own loudspeaker and microphone.

Invariant: an agent may let this machine speak, and listen once; it learns nothing else of it. One
text is said after the other. A device is open only while it is used; the sound that it hears is
kept only until it was written down.
"""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from functools import wraps
from typing import Annotated, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from engine.audio.base import Loudspeaker
from engine.audio.vad import SpeechEnded
from engine.errors import Busy, EngineError, InvalidInput
from engine.runtime.turn.endpointing import Patience
from engine.runtime.turn.playback import Playback
from engine.serve.doors.microphone import ClientMicrophone
from engine.serve.service import LEAD_MS, SAMPLE_RATE, Service, Speech
from engine.settings import FASTEST, SLOWEST
from engine.text.word import Word
from engine.tts.base import AudioFrame, Onset

_ABOUT: Final = "Speaks through this computer's loudspeaker and hears through its microphone."
_LONGEST_S: Final = 120.0
_TICK_S: Final = 0.02
_MOST: Final = 16  # texts that wait
_SENTENCE: Final = re.compile(r"(?<=[.!?\u2026])[\"')\]\u201d\u2019]*\s+")

Rate = Annotated[float | None, Field(ge=SLOWEST, le=FASTEST, description="Syllables a second.")]
Seconds = Annotated[float, Field(gt=0, le=_LONGEST_S)]
Tool = Callable[..., Awaitable[str]]


def agents_server(service: Service) -> MCPServer:
    """A server of the tools."""
    server = MCPServer("rubato", instructions=_ABOUT, log_level="ERROR")
    its = Tools(service)
    said = (its.speak, its.set_rate, its.stop, its.pause, its.resume, its.skip)
    for tool in (*said, its.list_voices, its.listen_once):
        server.tool()(_telling(tool))
    return server


def _telling(tool: Tool) -> Tool:
    """With faults in the words that are for the person."""

    @wraps(tool)
    async def telling(*given: object, **named: object) -> str:
        try:
            return await tool(*given, **named)
        except EngineError as error:
            raise ToolError(str(error)) from error

    return telling


class Tools:
    """Agents read the documentation of a tool."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._waiting: deque[tuple[str, str, float | None]] = deque()
        self._task: asyncio.Task[None] | None = None  # None = nothing is being said
        self._speech: Speech | None = None  # of it
        self._playback: Playback | None = None
        self._loudspeaker: Loudspeaker | None = None
        self._rate: float | None = None  # SPS, for what is said from now on; None = the person's
        self._skip = 0  # sentences
        self._paused = False

    async def speak(self, text: str, voice: str = "", rate: Rate = None, wait: bool = False) -> str:
        """Say a text aloud, after what is being said. With wait, answer once it was said."""
        await self._service.check_voice(voice)
        if len(text) > self._service.limits.text:
            raise InvalidInput("Give at most {most} at a time.", most=self._service.limits.text)
        if len(self._waiting) >= _MOST:
            raise Busy("Too much waits to be said already.")
        self._waiting.append((text, voice, rate))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._say_all())
        if not wait:
            return "It is being said."
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()
        return "It was said."

    async def set_rate(self, rate: Rate = None) -> str:
        """Change the pace at once, within the very sentence. Without a rate: as the person set."""
        self._rate = rate
        if self._speech is not None:
            self._speech.rate = rate
        return "That is the pace from now on."

    async def stop(self) -> str:
        """Be silent, and forget what waits to be said."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, EngineError):
                await self._task
        return "Nothing is being said."

    async def pause(self) -> str:
        """Hold what is being said; resume goes on."""
        self._paused = True
        if self._playback is not None and self._loudspeaker is not None:
            self._playback.hush()
            self._loudspeaker.cut()
        return "It waits."

    async def resume(self) -> str:
        """Go on where pause held."""
        self._paused = False
        if self._playback is not None:
            self._playback.resume()
        return "It goes on."

    async def skip(self, sentences: int = 1) -> str:
        """Go on some sentences later, or before with a negative number; 0 repeats this one."""
        if self._speech is None:
            raise InvalidInput("Nothing is being said.")
        self._skip = sentences
        self._speech.stop()
        return "It goes on there."

    async def list_voices(self) -> str:
        """The names of the voices, one a line."""
        return "\n".join(await self._service.voices())

    async def listen_once(self, seconds: Seconds = 30.0) -> str:
        """Hear what the person says next, as text; empty when nobody speaks in time."""
        settings, clock = self._service.settings, self._service.clock
        microphone = self._service.factories.microphone(settings.audio.microphone)
        ear = ClientMicrophone(microphone.sample_rate)
        ear.listen(Patience.of(settings.recogniser.patience))
        end_at = clock.now() + seconds
        try:
            while clock.now() < end_at:
                if any(isinstance(shown, SpeechEnded) for shown in ear.push(microphone.read())):
                    break
                await clock.wait(_TICK_S)
            return (await self._service.ears.transcript(ear.heard())).text
        finally:
            microphone.close()

    async def _say_all(self) -> None:
        settings = self._service.settings.audio
        self._loudspeaker = loudspeaker = self._service.factories.loudspeaker(settings.loudspeaker)
        loudspeaker.gain = settings.volume
        try:
            while self._waiting:
                await self._say(loudspeaker, *self._waiting.popleft())
        finally:
            loudspeaker.cut()
            loudspeaker.close()
            self._loudspeaker = self._speech = self._playback = None

    async def _say(
        self, loudspeaker: Loudspeaker, text: str, voice: str, rate: float | None
    ) -> None:
        starts = [0, *(found.end() for found in _SENTENCE.finditer(text))]
        at = 0
        while at < len(text):
            speech = self._service.speech(voice, self._rate if rate is None else rate)
            speech.write(text[at:])
            speech.end()
            heard = at + await self._play(speech, loudspeaker)
            if not speech.stopped:
                return
            loudspeaker.cut()
            sentence = sum(start <= heard for start in starts) - 1 + self._skip
            at = starts[max(0, sentence)] if sentence < len(starts) else len(text)

    async def _play(self, speech: Speech, loudspeaker: Loudspeaker) -> int:
        """To its end, or until it is stopped; where the last word that was heard begins."""
        playback = Playback(loudspeaker, SAMPLE_RATE)
        self._speech, self._playback = speech, playback
        if self._paused:
            playback.hush()

        async def until(condition: Callable[[], bool]) -> None:
            while not speech.stopped and (playback.hushed or not condition()):
                playback.pump()
                await self._service.clock.wait(_TICK_S)

        async with aclosing(speech.frames()) as frames:
            async for frame in frames:
                onsets = tuple(Onset(0, word.at_ms * SAMPLE_RATE // 1000) for word in frame.words)
                words = tuple(Word(word.text, word.start, word.end) for word in frame.words)
                playback.feeding()
                playback.add(AudioFrame(frame.pcm, frame.sample, onsets), words, None)
                await until(lambda: playback.lead_ms <= LEAD_MS)
            playback.complete()
            await until(lambda: playback.over)
        heard = playback.delivery().words
        return heard[-1].start if heard else 0
