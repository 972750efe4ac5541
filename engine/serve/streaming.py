"""Text streamed in and speech streamed out over a WebSocket, in the events of vLLM-Omni, and two
more: session.update changes the rate at any moment, and a word event tells of each word where in
the sound it begins.

    in   session.config {voice, response_format, speed | rate, lead_ms}
         input.text {text}, input.done, input.cancel, session.update {speed | rate}
    out  audio.start, sound as binary messages, word {text, start, end, at_ms}, audio.done,
         session.done, session.updated, error

Invariant: what is written up to input.done is one utterance; another may follow on the connection.
"""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from engine.errors import EngineError, InvalidInput
from engine.serve.answers import Fields, choice_of, number_of, text_of
from engine.serve.encoding import FORMATS, encoder
from engine.serve.limits import LEAD_MS, SAMPLE_RATE
from engine.serve.service import Service, Wish
from engine.serve.sockets import Events
from engine.serve.speaking import LONGEST_LEAD_MS, rate_of, voice_of
from engine.serve.speech import Speech, SpeechFrame

_FIRST: Final = {"sentence_index": 0}  # there is one, however many sentences it has


def routes() -> list[BaseRoute]:
    return [WebSocketRoute("/v1/audio/speech/stream", _stream)]


async def _stream(socket: WebSocket) -> None:
    service: Service = socket.app.state.service
    events = Events(socket, service.limits)
    await events.accept()
    client = _Client(service, events)
    try:
        async for event in events.each(lambda: client.speaking):
            try:
                await client.take(event)
            except EngineError as error:
                if not await events.note(error):
                    return
    finally:
        await client.leave()


class _Client:
    """One connection."""

    def __init__(self, service: Service, events: Events) -> None:
        self._service = service
        self._events = events
        self._wish = Wish(text=service.limits.streamed_text)
        self._format = "pcm"
        self._lead_ms: int = LEAD_MS
        self._speech: Speech | None = None  # None = it waits for its place, or nothing was written
        self._early: list[str] = []  # written before there was a place
        self._ended = False
        self._task: asyncio.Task[None] | None = None  # None = nothing is being said

    @property
    def speaking(self) -> bool:
        return self._task is not None and not self._task.done()

    async def take(self, event: Fields) -> None:
        """InvalidInput for an event that cannot be used."""
        match event.get("type"):
            case "session.config":
                self._configure(event)
            case "session.update":
                rate = rate_of(event, self._service.own_pace)
                self._wish = Wish(self._wish.voice, rate, self._wish.text)
                if self._speech is not None:
                    self._speech.rate = rate
                await self._events.tell("session.updated", rate=rate)
            case "input.text":
                self._write(text_of(event, "text"))
            case "input.done":
                self._write("")
                self._ended = True
                if self._speech is not None:
                    self._speech.end()
            case "input.cancel":
                await self.leave()
            case kind:
                raise InvalidInput("There is no event '{kind}'.", kind=str(kind)[:40])

    async def leave(self) -> None:
        """Say nothing more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def _configure(self, event: Fields) -> None:
        self._format = choice_of(event, "response_format", FORMATS, self._format)
        lead_ms = number_of(event, "lead_ms", 0, LONGEST_LEAD_MS)
        self._lead_ms = LEAD_MS if lead_ms is None else round(lead_ms)
        rate = rate_of(event, self._service.own_pace)
        self._wish = Wish(voice_of(event), rate, self._service.limits.streamed_text)

    def _write(self, text: str) -> None:
        if not self.speaking:
            self._early, self._ended, self._speech = [], False, None
            self._task = asyncio.ensure_future(self._speak())
        if self._ended:
            raise InvalidInput("The text has ended; wait for audio.done.")
        if self._speech is not None:
            self._speech.write(text)
        elif sum(map(len, self._early)) + len(text) <= self._service.limits.streamed_text:
            self._early.append(text)
        else:
            raise InvalidInput("The text is too long.")

    async def _speak(self) -> None:
        try:
            async with self._service.speak(self._wish) as speech:
                self._speech = speech
                for text in self._early:
                    speech.write(text)
                if self._ended:
                    speech.end()
                await self._give(speech)
        except EngineError as error:
            await self._events.refuse(error)
        except (WebSocketDisconnect, RuntimeError, OSError):
            return  # it has gone; whoever reads from it will see
        finally:
            self._speech = None

    async def _give(self, speech: Speech) -> None:
        made = encoder(self._format)
        about = {"format": self._format, "sample_rate": SAMPLE_RATE, "id": speech.id}
        await self._events.tell("audio.start", **_FIRST, sentence_text="", **about)
        async for frame in speech.frames(self._lead_ms):
            await self._send(made.push(frame.pcm))
            await self._tell_words(frame)
        await self._send(made.end())
        await self._events.tell("audio.done", **_FIRST, audio_ms=speech.given_ms)
        await self._events.tell("session.done", total_sentences=1)

    async def _send(self, data: bytes) -> None:
        if data:
            await self._events.send(data)

    async def _tell_words(self, frame: SpeechFrame) -> None:
        for word in frame.words:
            place = {"start": word.start, "end": word.end, "at_ms": word.at_ms}
            await self._events.tell("word", text=word.text, **place)
