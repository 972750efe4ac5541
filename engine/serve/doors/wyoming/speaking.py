"""Text to speech: a whole text, or one that is written while it is spoken.

    client  synthesize-start, synthesize-chunk .., (synthesize,) synthesize-stop
    server  audio-start, audio-chunk .., audio-stop, synthesize-stopped

Home Assistant also sends the whole text between the last chunk and the stop, for servers that
cannot stream; it is not spoken again. `context.rate` (SPS) may come with each of these events: it
holds from there on.
Invariant: one utterance of a client at a time; the next begins when the one before has ended.
"""

import asyncio
from contextlib import aclosing
from functools import partial
from typing import Final, Literal

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.tts import SynthesizeStopped

from engine.serve.doors.encoding import pcm16
from engine.serve.doors.requests import Text, Wire, checked
from engine.serve.doors.wyoming.client import Client, Contextual
from engine.serve.limits import SAMPLE_RATE
from engine.serve.service import Service
from engine.serve.speech import Speech

_FORMAT: Final = {"rate": SAMPLE_RATE, "width": 2, "channels": 1}


class _Voice(Wire):
    name: Text = ""


class _Wish(Contextual):
    text: Text = ""
    voice: _Voice = _Voice()
    text_format: Literal["text"] = "text"  # no SSML: a rate comes in the context


class Speaking:
    """The voice, for one client."""

    def __init__(self, service: Service, client: Client) -> None:
        self._service = service
        self._client = client
        self._streamed = False  # a text is being written
        self._speech: Speech | None = None  # None = nothing was spoken yet
        self._task: asyncio.Task[None] | None = None  # speaks it

    async def take(self, event: Event) -> None:
        """One of the client's events."""
        wish = checked(_Wish, event.data)
        match event.type:
            case "synthesize-start":
                await self._begin(wish, streamed=True)
            case "synthesize" if not self._streamed:
                speech = await self._begin(wish, streamed=False)
                speech.write(wish.text)
                speech.end()
            case "synthesize-chunk" | "synthesize-stop" if self._streamed and self._speech:
                if wish.context.rate is not None:
                    self._speech.rate = wish.context.rate
                if event.type == "synthesize-chunk":
                    self._speech.write(wish.text)
                else:
                    self._streamed = False
                    self._speech.end()

    async def settle(self) -> None:
        """The client writes no more; what was written is still spoken."""
        if self._speech is not None:
            self._speech.end()
        if self._task is not None:
            await asyncio.wait([self._task])

    def stop(self) -> None:
        """The client has gone."""
        if self._task is not None:
            self._task.cancel()

    async def _begin(self, wish: _Wish, *, streamed: bool) -> Speech:
        """Begin an utterance, once the one before is over."""
        await self.settle()
        limits = self._service.limits
        longest = limits.streamed_text if streamed else limits.text
        speech = self._service.speech(wish.voice.name, wish.context.rate, longest=longest)
        self._streamed, self._speech = streamed, speech
        work = partial(self._speak, speech, streamed=streamed)
        self._task = asyncio.create_task(self._client.guarded(work))
        return speech

    async def _speak(self, speech: Speech, *, streamed: bool) -> None:
        send = self._client.send
        async with aclosing(speech.frames()) as frames:
            frame = await anext(frames, None)
            await send(AudioStart(**_FORMAT, timestamp=0))
            while frame is not None:
                sound = pcm16(frame.pcm)
                await send(AudioChunk(**_FORMAT, audio=sound, timestamp=frame.at_ms))
                frame = await anext(frames, None)
        await send(AudioStop(timestamp=speech.given_ms))
        if streamed:
            await send(SynthesizeStopped())
