"""Text to speech: a whole text, or one that is written while it is spoken.

    client  synthesize-start, synthesize-chunk .., (synthesize,) synthesize-stop
    server  audio-start, audio-chunk .., audio-stop, synthesize-stopped

Home Assistant also sends the whole text between the last chunk and the stop, for servers that
cannot stream; it is not spoken again. `context.rate` (SPS) may come with each of these events: it
holds from there on.
Invariant: one utterance of a client at a time; the next begins when the one before has ended.
"""

import asyncio
from typing import Any

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.tts import SynthesizeStopped

from engine.errors import InvalidInput
from engine.serve.doors.answers import text_of
from engine.serve.doors.encoding import pcm16
from engine.serve.doors.wyoming.client import Client
from engine.serve.doors.wyoming.events import rate_of
from engine.serve.limits import SAMPLE_RATE
from engine.serve.service import Service, Wish
from engine.serve.speech import Speech

_FORMAT = {"rate": SAMPLE_RATE, "width": 2, "channels": 1}


class Speaking:
    """The voice, for one client."""

    def __init__(self, service: Service, client: Client) -> None:
        self._service = service
        self._client = client
        self._streamed = False  # a text is being written
        self._speech: Speech | None = None  # None = nothing is spoken
        self._begun = asyncio.Event()  # or failed
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is said, or will be."""
        return self._task is not None and not self._task.done()

    async def take(self, event: Event) -> None:
        """One of the client's events."""
        match event.type:
            case "synthesize-start":
                await self._begin(event, streamed=True)
            case "synthesize" if not self._streamed:
                await self._begin(event, streamed=False)
                self._write(event)
                self._end()
            case "synthesize-chunk" if self._streamed:
                self._write(event)
            case "synthesize-stop" if self._streamed:
                self._change(event)
                self._end()

    async def settle(self) -> None:
        """The client writes no more; what was written is still spoken."""
        self._end()
        await self._settled()

    def stop(self) -> None:
        """The client has gone."""
        if self._task is not None:
            self._task.cancel()

    async def _begin(self, event: Event, *, streamed: bool) -> None:
        """Begin an utterance, once the one before is over and there is a place for it."""
        self._end()
        await self._settled()
        if (event.data.get("text_format") or "text") != "text":
            raise InvalidInput(
                "Only plain text is read here.", hint="Give a rate in 'context' instead."
            )
        limits = self._service.limits
        longest = limits.streamed_text if streamed else limits.text
        wish = Wish(_voice(event.data), rate_of(event), longest)
        self._streamed = streamed
        self._begun.clear()
        self._task = asyncio.create_task(self._client.guarded(self._speak(wish, streamed=streamed)))
        await self._begun.wait()

    async def _speak(self, wish: Wish, *, streamed: bool) -> None:
        try:
            async with self._service.speak(wish) as speech:
                self._speech = speech
                self._begun.set()
                await self._client.send(AudioStart(**_FORMAT, timestamp=0))
                async for frame in speech.frames():
                    sound = pcm16(frame.pcm)
                    await self._client.send(
                        AudioChunk(**_FORMAT, audio=sound, timestamp=frame.at_ms)
                    )
                await self._client.send(AudioStop(timestamp=speech.given_ms))
                if streamed:
                    await self._client.send(SynthesizeStopped())
        finally:
            self._speech = None
            self._begun.set()

    def _write(self, event: Event) -> None:
        self._change(event)
        if self._speech is not None:  # else it failed, which the client was told
            self._speech.write(text_of(event.data, "text"))

    def _change(self, event: Event) -> None:
        rate = rate_of(event)
        if rate is not None and self._speech is not None:
            self._speech.rate = rate

    def _end(self) -> None:
        self._streamed = False
        if self._speech is not None:
            self._speech.end()

    async def _settled(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])


def _voice(data: dict[str, Any]) -> str:
    """The voice that is asked for; empty = the person's."""
    voice = data.get("voice") or {}
    if not isinstance(voice, dict):
        raise InvalidInput("'voice' has to be an object.")
    return text_of(voice, "name")
