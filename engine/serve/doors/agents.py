"""Tools for agents that speak MCP: over the standard streams of a separate process, or at /mcp.
They use this machine's own loudspeaker and microphone.

Invariant: an agent can make this machine speak, and listen once; it learns nothing else about it.
Texts are spoken one after the other; a failed one does not block the next. A device is open only
while it is used; recorded sound is kept only until it is transcribed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, closing
from functools import wraps
from typing import Annotated, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from engine.audio.base import Loudspeaker
from engine.audio.vad import SpeechEnded
from engine.errors import Busy, DeviceError, EngineError, InvalidInput
from engine.runtime.turn.playback import Playback
from engine.runtime.turn.waiting import Patience
from engine.serve.doors.microphone import ClientMicrophone
from engine.serve.service import LEAD_MS, SAMPLE_RATE, Service, Speech
from engine.settings import FAST_LIMIT, SLOWEST
from engine.tts.base import AudioFrame

_ABOUT: Final = "Speaks through this computer's loudspeaker and hears through its microphone."
_LONGEST_S: Final = 120.0
_TICK_S: Final = 0.02
_MOST: Final = 16  # queued texts

Rate = Annotated[float | None, Field(ge=SLOWEST, le=FAST_LIMIT, description="Syllables a second.")]
Seconds = Annotated[float, Field(gt=0, le=_LONGEST_S)]
Tool = Callable[..., Awaitable[str]]


def agents_server(service: Service) -> MCPServer:
    """Return a server of the tools."""
    server = MCPServer("rubato", instructions=_ABOUT, log_level="ERROR")
    tools = Tools(service)
    for tool in (tools.speak, tools.set_rate, tools.stop, tools.list_voices, tools.listen_once):
        server.tool()(_with_tool_errors(tool))
    return server


def _with_tool_errors(tool: Tool) -> Tool:
    """Wrap a tool so that the user's fault messages reach the agent."""

    @wraps(tool)
    async def wrapped(*given: object, **named: object) -> str:
        try:
            return await tool(*given, **named)
        except EngineError as error:
            raise ToolError(str(error)) from error

    return wrapped


class Tools:
    """Agents read the documentation of a tool."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._saying: set[asyncio.Task[None]] = set()  # a text each: the current and queued ones
        self._turn = asyncio.Lock()  # held by the text that is spoken
        self._speech: Speech | None = None  # of the current text
        self._fault: DeviceError | None = None  # the last one ends the texts that wait meanwhile
        self._rate: float | None = None  # SPS of the next texts; None = the user's rate

    async def speak(self, text: str, voice: str = "", rate: Rate = None, wait: bool = False) -> str:
        """Speak a text aloud, after the queued ones. With wait, answer once it was spoken."""
        await self._service.check_voice(voice)
        if len(text) > self._service.limits.text:
            raise InvalidInput("Give at most {most} at a time.", most=self._service.limits.text)
        if len(self._saying) > _MOST:
            raise Busy(
                "{count} texts are already queued.",
                hint="Try again when one has finished.",
                count=_MOST,
            )
        saying = asyncio.create_task(self._say(text, voice, rate))
        self._saying.add(saying)
        saying.add_done_callback(self._note_end)
        # Without wait: until it has opened the loudspeaker, if it is the first.
        await asyncio.wait([saying], timeout=None if wait else 0)
        if not saying.done():
            return "The text is queued."
        if saying.cancelled():
            return "The text was stopped."
        saying.result()
        return "The text was spoken."

    async def set_rate(self, rate: Rate = None) -> str:
        """Change the speaking rate at once, even within a sentence. Without a rate: the user's."""
        self._rate = rate
        if self._speech is not None:
            self._speech.rate = rate
        return "The speaking rate has changed."

    async def stop(self) -> str:
        """Stop speaking, and clear the queue."""
        if saying := list(self._saying):
            for each in saying:
                each.cancel()
            await asyncio.wait(saying)
        return "All speech was stopped."

    async def list_voices(self) -> str:
        """Return the names of the voices, one per line."""
        return "\n".join(await self._service.voices())

    async def listen_once(self, seconds: Seconds = 30.0) -> str:
        """Return the user's next utterance as text; empty if nobody speaks in time."""
        settings, clock = self._service.settings, self._service.clock
        await self._service.load_detector()
        microphone = self._service.factories.microphone(settings.audio.microphone)
        ear = ClientMicrophone(microphone.sample_rate)
        ear.listen(Patience.of(settings.recogniser.patience))
        end_at = clock.now() + seconds
        try:
            while clock.now() < end_at:
                if any(isinstance(shown, SpeechEnded) for shown in ear.push(microphone.read())):
                    break
                await clock.wait(_TICK_S)
            return (await self._service.ears.transcript(ear.heard)).text
        finally:
            microphone.close()

    def _note_end(self, saying: asyncio.Task[None]) -> None:
        self._saying.discard(saying)
        if not saying.cancelled():
            saying.exception()  # an agent that does not wait never reads it

    async def _say(self, text: str, voice: str, rate: float | None) -> None:
        audio, before = self._service.settings.audio, self._fault
        async with self._turn:
            if self._fault is not None and self._fault is not before:
                raise self._fault
            with closing(self._service.factories.loudspeaker(audio.loudspeaker)) as loudspeaker:
                loudspeaker.gain = audio.volume
                own = self._rate if rate is None else rate
                self._speech = speech = self._service.speech(voice, own)
                speech.write(text)
                speech.end()
                try:
                    await self._play(speech, loudspeaker)
                except DeviceError as error:
                    self._fault = error
                    raise
                finally:
                    self._speech = None
                    loudspeaker.cut()

    async def _play(self, speech: Speech, loudspeaker: Loudspeaker) -> None:
        playback = Playback(loudspeaker, SAMPLE_RATE)

        async def until(condition: Callable[[], bool]) -> None:
            while not condition():
                playback.pump()
                await self._service.clock.wait(_TICK_S)

        async with aclosing(speech.frames()) as frames:
            async for frame in frames:
                playback.feeding()
                playback.add(AudioFrame(frame.pcm, frame.sample), (), None)
                await until(lambda: playback.lead_ms <= LEAD_MS)
            playback.complete()
            await until(lambda: playback.over)
