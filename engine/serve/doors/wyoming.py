"""A TCP server for Wyoming, Home Assistant's protocol: voice, ears, wake phrase and answers.

    client  synthesize; or synthesize-start, synthesize-chunk .., (synthesize,) synthesize-stop
    server  audio-start, audio-chunk .., audio-stop; and synthesize-stopped
    client  transcribe, audio-start, audio-chunk .., audio-stop
    server  transcript-start, transcript-chunk .., transcript, transcript-stop
    client  detect, audio-start, audio-chunk .., (audio-stop)
    server  detection, or not-detected behind audio-stop
    client  transcript {text, context: {conversation_id}}
    server  handled-start, handled-chunk .., handled, handled-stop; or not-handled

Home Assistant also sends the whole text between the last chunk and the stop, for servers that
cannot stream; it is not spoken again. `context.rate` (SPS) may come with each event about a text:
it holds from there on.

The protocol knows no authentication, so whoever reaches the address is served, and its own reader
takes whatever length a client announces. Invariant: no event is longer than the limits allow; each
connection has its own speech, ears and wake phrase, and one utterance at a time; sound is thrown
away unless it was asked for; nobody gets at a conversation without its id, and nothing of the
window's is among them. A client that does not read in time is let go, and so is one that got an
error, since neither Home Assistant nor its satellites go on behind one.
"""

import asyncio
import logging
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import Field
from wyoming.asr import Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_write_event
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled
from wyoming.info import Info
from wyoming.ping import Pong
from wyoming.tts import SynthesizeStopped
from wyoming.wake import Detection, NotDetected

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.asr.base import KeywordSpotter
from engine.audio.pcm import Pcm, Resampler
from engine.errors import Busy, EngineError, InvalidInput, LanguageModelError, ModelError
from engine.llm.base import Message, Role, TextDelta
from engine.serve.doors.encoding import pcm16
from engine.serve.doors.requests import Rate, Text, Wire, checked, read_object
from engine.serve.models import ModelThread
from engine.serve.service import Service
from engine.serve.speech import SAMPLE_RATE, Speech

log = logging.getLogger(__name__)

HEAD_BYTES: Final = 64 << 10
MOST_CLIENTS: Final = 32
MOST_LISTENING: Final = 8  # clients that listen for the phrase at once
CONVERSATIONS: Final = 32
MESSAGES: Final = 20  # of one
LONGEST_S: Final = 120  # of sound
_LONGEST_ID: Final = 200  # characters
_ENGLISH: Final = ["en"]  # of the voices, the phrase and the skills
_FORMAT: Final = {"rate": SAMPLE_RATE, "width": 2, "channels": 1}


class _Head(Wire):
    type: str
    data: dict[str, Any] = Field(default_factory=dict)
    data_length: Annotated[int, Field(ge=0)] = 0
    payload_length: Annotated[int, Field(ge=0)] = 0


class _Context(Wire):
    rate: Rate | None = None
    conversation_id: Text = ""


class _Voice(Wire):
    name: Text = ""


class _Data(Wire):
    """What events carry; which fields count depends on their type. `names`: of phrases; none = the
    person's own, which is the only one that is ever heard. `timestamp` in ms of the client's.
    """

    text: Text = ""
    text_format: Literal["text"] = "text"  # no SSML: a rate comes in the context
    context: _Context = _Context()
    voice: _Voice = _Voice()
    language: Text = ""
    names: list[str] = Field(default_factory=list)
    rate: Annotated[int, Field(ge=4_000, le=192_000)] = EAR_RATE
    width: Literal[2, 4] = 2
    channels: Annotated[int, Field(ge=1, le=8)] = 1
    timestamp: int | float | None = None


@asynccontextmanager
async def wyoming_server(service: Service, listener: socket.socket) -> AsyncIterator[None]:
    """Serve on this socket until the block ends, which lets every client go."""
    home = _Home(service)
    server = await asyncio.start_server(home.come_in, sock=listener, limit=HEAD_BYTES)
    try:
        yield
    finally:
        server.close()
        visits = tuple(home.clients.values())
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        home.wake.stop()


class _Home:
    """What the clients share. Conversations are remembered by their ids, a few of them, in memory
    alone.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self.conversations: OrderedDict[str, tuple[Message, ...]] = OrderedDict()
        self.clients: dict[_Client, asyncio.Task[None]] = {}
        # Each client has a spotter of its own, and all belong to this thread. Not the ears' one: a
        # transcript takes seconds.
        self.wake: ModelThread[ExitStack] = ModelThread("wake phrase of the server", ExitStack)

    async def come_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Client(self, reader, writer)
        self.clients[client] = asyncio.create_task(client.run())
        self.clients[client].add_done_callback(lambda _: self.clients.pop(client))


class _Client:
    """One connection."""

    def __init__(
        self, home: _Home, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._home = home
        self._service = home.service
        self._limits = home.service.limits
        self._reader = reader
        self._writer = writer
        self._tasks = asyncio.TaskGroup()
        self._streamed = False  # a text is being written
        self._speech: Speech | None = None  # None = nothing was spoken yet
        self._speaking: asyncio.Task[None] | None = None
        self._wanted = ""  # what sound was asked for: transcribe, detect, or none
        self._asked = _Data()  # with it
        self._form = (0, 0, 0)  # of the sound: rate, bytes of a sample, channels
        self._resampler = Resampler(EAR_RATE, EAR_RATE)
        self._heard: list[Pcm] = []
        self._spotter: KeywordSpotter | None = None  # None = no sound came for it yet
        self.spotting = self._detected = False
        # A client may be silent for as long as its machine is there.
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE"):  # else two hours pass before the system asks
            idle_s = round(self._limits.idle_s) or 1
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, idle_s)

    async def run(self) -> None:
        """Take its events until it hangs up, and speak to it to the end. A fault is reported, and
        ends the connection.
        """
        try:
            async with self._tasks:
                await self._attend()
        except ExceptionGroup as faults:
            await self._fail(faults.exceptions[0])
        finally:
            self._writer.close()

    async def _attend(self) -> None:
        if len(self._home.clients) > MOST_CLIENTS:
            raise Busy("All {count} places are taken.", count=MOST_CLIENTS)
        while (event := await self._read()) is not None:
            await self._take(event)
        if self._speech is not None:
            self._speech.end()

    async def _read(self) -> Event | None:
        """The next event; None = the client has hung up. InvalidInput for anything else, and for an
        event that is too long.
        """
        most = self._limits.message_bytes
        try:
            if not (line := await self._reader.readline()):
                return None
            head = checked(_Head, read_object(line))
            if max(head.data_length, head.payload_length) > most:
                raise InvalidInput(
                    "An event has at most {most} bytes of data and of sound.", most=most
                )
            more = await self._reader.readexactly(head.data_length)
            payload = await self._reader.readexactly(head.payload_length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except ValueError as error:  # a line without an end
            raise InvalidInput("This is no event.") from error
        return Event(head.type, {**head.data, **(read_object(more) if more else {})}, payload)

    async def _send(self, event: Eventable) -> None:
        """ConnectionError when the client has gone or does not read."""
        try:
            async with asyncio.timeout(self._limits.write_s):
                await async_write_event(event.event(), self._writer)
        except TimeoutError as error:
            raise ConnectionAbortedError("a client does not read") from error

    async def _fail(self, error: Exception) -> None:
        if isinstance(error, ConnectionError):
            return
        told = Error("The server failed; its log has more.", "error")
        if isinstance(error, EngineError):
            told = Error(str(error), error.code)
        else:
            log.error("a client's wish failed kind=%s", type(error).__name__)
        with suppress(ConnectionError):
            await self._send(told)

    async def _take(self, event: Event) -> None:
        match event.type:
            case "describe":
                await self._send(await _described(self._service))
            case "ping":
                await self._send(Pong(event.data.get("text")))
            case "transcript":
                await self._answer(checked(_Data, event.data))
            case "transcribe" | "detect":
                self._forget()
                self._wanted, self._asked = event.type, checked(_Data, event.data)
            case "audio-start":
                self._form = (0, 0, 0)
            case "audio-chunk" if self._wanted:
                chunk = checked(_Data, event.data)
                pcm = self._samples(chunk, event.payload or b"")
                await self._hear(pcm, chunk.timestamp)
            case "audio-stop" if self._wanted:
                await self._hear(self._resampler.end(), None)
                await self._understand()
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
        """Begin an utterance, once the one before is over."""
        if self._speech is not None and self._speaking is not None:
            self._speech.end()
            await asyncio.wait([self._speaking])
        longest = self._limits.streamed_text if streamed else self._limits.text
        speech = self._service.speech(said.voice.name, said.context.rate, longest=longest)
        self._streamed, self._speech = streamed, speech
        self._speaking = self._tasks.create_task(self._utter(speech, streamed=streamed))
        return speech

    async def _utter(self, speech: Speech, *, streamed: bool) -> None:
        async with aclosing(speech.frames()) as frames:
            frame = await anext(frames, None)
            await self._send(AudioStart(**_FORMAT, timestamp=0))
            while frame is not None:
                sound = pcm16(frame.pcm)
                await self._send(AudioChunk(**_FORMAT, audio=sound, timestamp=frame.at_ms))
                frame = await anext(frames, None)
        await self._send(AudioStop(timestamp=speech.given_ms))
        if streamed:
            await self._send(SynthesizeStopped())

    # ------------------------------------------------------------------------------- ears

    def _forget(self) -> None:
        """What was asked for."""
        self._wanted, self._heard, self._spotter = "", [], None
        self.spotting = self._detected = False

    def _samples(self, chunk: _Data, payload: bytes) -> Pcm:
        """Those that became ready [S] at 16 kHz."""
        form = (chunk.rate, chunk.width, chunk.channels)
        if form != self._form:
            self._form, self._resampler = form, Resampler(chunk.rate, EAR_RATE)
        step = chunk.width * chunk.channels
        whole = payload[: len(payload) // step * step]
        scale = 2 ** (8 * chunk.width - 1)
        samples = np.frombuffer(whole, f"<i{chunk.width}").astype(np.float32) / scale
        return self._resampler.push(samples.reshape(-1, chunk.channels).mean(axis=1))

    async def _hear(self, pcm: Pcm, timestamp: float | None) -> None:
        phrase = self._service.settings.wake.phrase
        if self._wanted == "transcribe":
            if sum(map(len, self._heard)) + len(pcm) > LONGEST_S * EAR_RATE:
                raise InvalidInput("Only {most} seconds are listened to.", most=LONGEST_S)
            self._heard.append(pcm)
        elif not self._detected and phrase in (self._asked.names or [phrase]):
            self.spotting = True
            if sum(client.spotting for client in self._home.clients) > MOST_LISTENING:
                raise Busy("All {count} places are taken.", count=MOST_LISTENING)
            self._detected = await self._home.wake.call(lambda nothing: self._spot(pcm))
            if self._detected:
                at_ms = None if timestamp is None else int(timestamp)
                await self._send(Detection(phrase, at_ms))

    def _spot(self, pcm: Pcm) -> bool:
        """On the thread of the wake phrase: whether it ended in these samples [S] at 16 kHz."""
        if self._spotter is None:
            self._spotter = self._service.factories.spotter(self._service.settings.wake)
        return self._spotter.push(pcm) is not None

    async def _understand(self) -> None:
        if self._wanted == "transcribe":
            language = self._asked.language or self._service.settings.recogniser.language
            pcm = np.concatenate([np.zeros(0, np.float32), *self._heard])
            text = ""
            await self._send(TranscriptStart(language=language))
            async for segment in self._service.ears.segments(pcm, self._asked.language):
                text += segment.delta
                await self._send(TranscriptChunk(segment.delta))
            await self._send(Transcript(text, language=language))
            await self._send(TranscriptStop())
        elif not self._detected:
            await self._send(NotDetected())
        self._forget()

    # ---------------------------------------------------------------------------- answers

    async def _answer(self, said: _Data) -> None:
        """By the language model, as an agent of Home Assistant's."""
        kept = self._home.conversations
        context = said.context.model_dump(exclude_unset=True)
        key = said.context.conversation_id[:_LONGEST_ID]
        history = (*kept.get(key, ()), Message(Role.USER, said.text[: self._limits.text]))
        await self._send(HandledStart(context))
        text = ""
        try:
            async with aclosing(self._service.mind.reply(history, said.context.rate)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, TextDelta) and delta.text:
                        text += delta.text
                        await self._send(HandledChunk(delta.text))
        except (LanguageModelError, ModelError) as error:
            await self._send(NotHandled(str(error), context))
            return
        await self._send(Handled(text, context))
        await self._send(HandledStop())
        if key:
            kept[key] = (*history, Message(Role.ASSISTANT, text))[-MESSAGES:]
            kept.move_to_end(key)
            if len(kept) > CONVERSATIONS:
                kept.popitem(last=False)


async def _described(service: Service) -> Info:
    """What this server can do: voices, ears, wake phrase and answers."""
    phrase = service.settings.wake.phrase
    language = service.settings.recogniser.language
    heard = _ENGLISH if language in ("", "auto") else [language]
    voices = [
        _about(name, "A voice of this computer", languages=_ENGLISH)
        for name in await service.voices()
    ]
    ears = _about("rubato", "The recogniser of this computer", languages=heard)
    mind = _about("rubato", "Skills and language model", languages=heard)
    wake = _about(phrase, "The wake phrase", languages=_ENGLISH, phrase=phrase)
    data = {
        "tts": _about("rubato", "Speaks", voices=voices, supports_synthesize_streaming=True),
        "asr": _about("rubato", "Hears", models=[ears], supports_transcript_streaming=True),
        "handle": _about("rubato", "Answers", models=[mind], supports_handled_streaming=True),
        "wake": _about("rubato", "Listens for a phrase", models=[wake]),
    }
    return Info.from_event(Event("info", {kind: [program] for kind, program in data.items()}))


def _about(name: str, description: str, **more: Any) -> dict[str, Any]:
    ours = {"name": "Rubato", "url": ""}
    about = {"name": name, "description": description, "attribution": ours}
    return {**about, "installed": True, "version": None, **more}
