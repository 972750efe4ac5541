"""A TCP server for Wyoming, Home Assistant's protocol: voice, ears and answers.

    client  synthesize; or synthesize-start, synthesize-chunk .., (synthesize,) synthesize-stop
    server  audio-start, audio-chunk .., audio-stop; and synthesize-stopped
    client  transcribe, audio-start, audio-chunk .., audio-stop
    server  transcript-start, transcript-chunk .., transcript, transcript-stop
    client  transcript {text, context: {conversation_id}}
    server  handled-start, handled-chunk .., handled, handled-stop; or not-handled

Home Assistant also sends the complete text between the last chunk and the stop, for servers that
cannot stream; it is not spoken again. Each event about a text may contain `context.rate` (SPS),
which applies from there on.

The protocol has no authentication, so every client that reaches the address is served, and its own
reader accepts any length that a client announces. Invariant: no event is longer than the limits
allow; each connection has its own speech and ears, and one utterance at a time; sound is discarded
unless a client asked for its transcript; a conversation is found by its id alone, and none of them
is the window's. A client that does not read in time is disconnected, and so is one that got an
error, since neither Home Assistant nor its satellites continue after one.
"""

import asyncio
import logging
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import Field
from wyoming.event import Event, async_write_event

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.asr.pick import BUILT_IN, resolve
from engine.audio.pcm import Pcm, Resampler
from engine.errors import (
    Busy,
    EngineError,
    InvalidInput,
    LanguageModelError,
    ModelError,
    TimedOut,
)
from engine.languages import ENGLISH, SPOKEN
from engine.llm.base import Message, Role, TextDelta
from engine.serve.doors.encoding import pcm16
from engine.serve.doors.requests import Rate, Text, Wire, checked, read_object
from engine.serve.service import SAMPLE_RATE, Service, Speech

log = logging.getLogger(__name__)

HEAD_BYTES: Final = 64 << 10
MOST_CLIENTS: Final = 32
CONVERSATIONS: Final = 32
MESSAGES: Final = 20  # of one conversation
LONGEST_S: Final = 120  # of sound
_MOST_BYTES: Final = 1 << 20  # of an event's data, and of its sound
_LONGEST_ID: Final = 200  # characters
_Conversations = OrderedDict[str, tuple[Message, ...]]  # by their ids
_FORMAT: Final[Mapping[str, Any]] = {"rate": SAMPLE_RATE, "width": 2, "channels": 1}


class _Head(Wire):
    type: str
    data: dict[str, Any] = Field(default={})
    data_length: Annotated[int, Field(ge=0, le=_MOST_BYTES)] = 0
    payload_length: Annotated[int, Field(ge=0, le=_MOST_BYTES)] = 0


class _Context(Wire):
    rate: Rate | None = None
    conversation_id: Text = ""


class _Voice(Wire):
    name: Text = ""
    language: Text = ""


class _Data(Wire):
    """The data of an event; which fields count depends on its type."""

    text: Text = ""
    text_format: Literal["text", "ssml"] = "text"  # both are read in the same way
    context: _Context = _Context()
    voice: _Voice = _Voice()
    language: Text = ""
    rate: Annotated[int, Field(ge=4_000, le=192_000)] = EAR_RATE
    width: Literal[2, 4] = 2
    channels: Annotated[int, Field(ge=1, le=8)] = 1


@asynccontextmanager
async def wyoming_server(service: Service, listener: socket.socket) -> AsyncIterator[None]:
    """Serve on this socket until the block ends, which disconnects every client."""
    conversations: _Conversations = OrderedDict()
    visits: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Client(service, conversations, reader, writer)
        visit = asyncio.create_task(client.run(len(visits) < MOST_CLIENTS))
        visits.add(visit)
        visit.add_done_callback(visits.discard)

    server = await asyncio.start_server(accept, sock=listener, limit=HEAD_BYTES)
    try:
        yield
    finally:
        server.close()
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)


class _Client:
    """One connection. A few conversations of all are stored by their ids, in memory only."""

    def __init__(
        self,
        service: Service,
        conversations: _Conversations,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._service = service
        self._conversations = conversations
        self._reader = reader
        self._writer = writer
        self._tasks = asyncio.TaskGroup()
        self._streamed = False  # a text is being written
        self._speech: Speech | None = None  # None = nothing was spoken yet
        self._speaking: asyncio.Task[None] | None = None
        self._listen(None)

    async def run(self, has_room: bool) -> None:
        """Handle its events until it hangs up, and complete its speech. A fault is reported, and
        ends the connection.
        """
        try:
            async with self._tasks:
                await self._attend(has_room)
        except* ConnectionError:
            pass  # it is gone, or does not read
        except* Exception as faults:  # noqa: BLE001 - one client's fault does not affect another
            await self._fail(faults.exceptions[0])
        finally:
            self._writer.close()

    async def _attend(self, has_room: bool) -> None:
        if not has_room:
            raise Busy("All {count} connections are in use.", count=MOST_CLIENTS)
        while (event := await self._read()) is not None:
            await self._take(event)
        if self._speech is not None:
            self._speech.end()

    async def _read(self) -> Event | None:
        """Return the next event; None = the client has hung up. InvalidInput for anything else, and
        for an event that is too long. TimedOut for one that begins and does not end.
        """
        try:
            if not (first := await self._reader.read(1)):
                return None
            async with asyncio.timeout(self._service.limits.body_s):
                head = checked(_Head, read_object(first + await self._reader.readline()))
                more = await self._reader.readexactly(head.data_length)
                payload = await self._reader.readexactly(head.payload_length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except TimeoutError as error:
            raise TimedOut("The request did not arrive in time.") from error
        except ValueError as error:  # a line without an end
            raise InvalidInput("The message is not an event.") from error
        return Event(head.type, {**head.data, **(read_object(more) if more else {})}, payload)

    async def _tell(self, kind: str, sound: bytes | None = None, **data: Any) -> None:
        """Send an event. ConnectionError if the client is gone or does not read."""
        try:
            async with asyncio.timeout(self._service.limits.write_s):
                await async_write_event(Event(kind, data, sound), self._writer)
        except TimeoutError as error:
            raise ConnectionAbortedError("a client does not read") from error

    async def _fail(self, error: Exception) -> None:
        text, code = "The server failed; its log has more.", "error"
        if isinstance(error, EngineError):
            text, code = str(error), error.code
        else:
            log.error("a client's request failed kind=%s", type(error).__name__)
        with suppress(ConnectionError):
            await self._tell("error", text=text, code=code)

    async def _take(self, event: Event) -> None:
        match event.type:
            case "describe":
                await self._tell("info", **await _described(self._service))
            case "ping":
                await self._tell("pong", text=event.data.get("text"))
            case "transcript":
                await self._answer(checked(_Data, event.data))
            case "transcribe":
                self._listen(checked(_Data, event.data))
            case "audio-chunk" if self._asked:
                self._hear(checked(_Data, event.data), event.payload or b"")
            case "audio-stop" if self._asked:
                await self._understand(self._asked)
            case kind if kind.startswith("synthesize"):
                await self._speak(kind, checked(_Data, event.data))
            case _:
                pass  # newer clients may send other kinds

    # ------------------------------------------------------------------------------ voice

    async def _speak(self, kind: str, said: _Data) -> None:
        match kind:
            case "synthesize-start":
                await self._begin(said, streamed=True)
            case "synthesize" if not self._streamed:
                speech = await self._begin(said, streamed=False)
                speech.write(said.text)
                speech.end()
            case "synthesize-chunk" | "synthesize-stop" if self._streamed and self._speech:
                if said.context.rate is not None:
                    self._speech.rate = said.context.rate
                if kind == "synthesize-chunk":
                    self._speech.write(said.text)
                else:
                    self._streamed = False
                    self._speech.end()

    async def _begin(self, said: _Data, *, streamed: bool) -> Speech:
        """Begin an utterance, after the previous one has ended."""
        if self._speech is not None and self._speaking is not None:
            self._speech.end()
            await asyncio.wait([self._speaking])
        language = said.voice.language.partition("-")[0]  # es-MX is spoken as es
        speech = self._service.speech(
            said.voice.name, said.context.rate, language=language, streamed=streamed
        )
        self._streamed, self._speech = streamed, speech
        self._speaking = self._tasks.create_task(self._utter(speech, streamed=streamed))
        return speech

    async def _utter(self, speech: Speech, *, streamed: bool) -> None:
        async with aclosing(speech.frames()) as frames:
            frame = await anext(frames, None)
            await self._tell("audio-start", **_FORMAT, timestamp=0)
            while frame is not None:
                sound = pcm16(frame.pcm)
                await self._tell("audio-chunk", sound, **_FORMAT, timestamp=frame.at_ms)
                frame = await anext(frames, None)
        await self._tell("audio-stop", timestamp=speech.given_ms)
        if streamed:
            await self._tell("synthesize-stopped")

    # ------------------------------------------------------------------------------- ears

    def _listen(self, asked: _Data | None) -> None:
        """Transcribe the sound that follows as asked; None = throw it away."""
        self._asked = asked
        self._resampler: Resampler | None = None  # None = no sound came yet
        self._heard: list[Pcm] = []

    def _hear(self, chunk: _Data, payload: bytes) -> None:
        if self._resampler is None:
            self._resampler = Resampler(chunk.rate, EAR_RATE)
        step = chunk.width * chunk.channels
        whole = payload[: len(payload) // step * step]
        samples = np.frombuffer(whole, f"<i{chunk.width}").reshape(-1, chunk.channels)
        scale = np.float32(2 ** (8 * chunk.width - 1))
        pcm = self._resampler.push(samples.astype(np.float32).mean(axis=1) / scale)
        self._heard.append(pcm)
        if sum(map(len, self._heard)) > LONGEST_S * EAR_RATE:
            raise InvalidInput("The sound is longer than {most} seconds.", most=LONGEST_S)

    async def _understand(self, asked: _Data) -> None:
        rest = self._resampler.end() if self._resampler else np.zeros(0, np.float32)
        language = asked.language or resolve(self._service.settings.recogniser).language
        pcm, text = np.concatenate([*self._heard, rest]), ""
        await self._tell("transcript-start", language=language)
        async for segment in self._service.ears.segments(pcm, asked.language):
            delta = f" {segment.text}" if text else segment.text
            text += delta
            await self._tell("transcript-chunk", text=delta)
        await self._tell("transcript", text=text, language=language)
        await self._tell("transcript-stop")
        self._listen(None)

    # ---------------------------------------------------------------------------- answers

    async def _answer(self, said: _Data) -> None:
        """Answer with the language model, as an agent of Home Assistant."""
        kept = self._conversations
        context = said.context.model_dump(exclude_unset=True)
        key = said.context.conversation_id[:_LONGEST_ID]
        question = Message(Role.USER, said.text[: self._service.limits.text])
        history = (*kept.get(key, ()), question)
        await self._tell("handled-start", context=context)
        text = ""
        try:
            async with aclosing(
                self._service.language_model.reply(history, said.context.rate)
            ) as deltas:
                async for delta in deltas:
                    if isinstance(delta, TextDelta):
                        text += delta.text
                        await self._tell("handled-chunk", text=delta.text)
        except (LanguageModelError, ModelError) as error:
            await self._tell("not-handled", text=str(error), context=context)
            return
        await self._tell("handled", text=text, context=context)
        await self._tell("handled-stop")
        if key:
            kept[key] = (*history, Message(Role.ASSISTANT, text))[-MESSAGES:]
            kept.move_to_end(key)
            if len(kept) > CONVERSATIONS:
                kept.popitem(last=False)


async def _described(service: Service) -> dict[str, Any]:
    """Return the services of this server: voices, ears and answers."""
    chosen = resolve(service.settings.recogniser)
    heard = [ENGLISH] if chosen.engine == BUILT_IN else list(SPOKEN)
    voices = [
        _about(name, "A voice of this computer", languages=[code])
        for name, code in (await service.voices()).items()
    ]
    ears = _about("rubato", "The recogniser of this computer", languages=heard)
    mind = _about("rubato", "Skills and language model", languages=list(SPOKEN))
    return {
        "tts": [_about("rubato", "Speaks", voices=voices, supports_synthesize_streaming=True)],
        "asr": [_about("rubato", "Hears", models=[ears], supports_transcript_streaming=True)],
        "handle": [_about("rubato", "Answers", models=[mind], supports_handled_streaming=True)],
    }


def _about(name: str, description: str, **more: Any) -> dict[str, Any]:
    ours = {"name": "Rubato", "url": ""}
    about = {"name": name, "description": description, "attribution": ours}
    return {**about, "installed": True, "version": None, **more}
