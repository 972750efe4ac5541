"""A TCP server for Wyoming, Home Assistant's protocol: what it can do, and its answers.

    client  transcript {text, context: {conversation_id}}
    server  handled-start, handled-chunk .., handled, handled-stop; or not-handled

The protocol knows no authentication, so whoever reaches the address is served. Invariant: each
connection has its own speech, ears and wake phrase; nobody gets at a conversation without its id,
and nothing of the window's is among them.
"""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, Final

from wyoming.event import Event
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled
from wyoming.info import Info
from wyoming.ping import Pong

from engine.errors import Busy, LanguageModelError, ModelError
from engine.llm.base import Message, Role, TextDelta
from engine.runtime.factories import Factories
from engine.serve.doors.requests import Text, checked
from engine.serve.doors.wyoming.client import HEAD_BYTES, Client, Contextual
from engine.serve.doors.wyoming.listening import Listening, Wake
from engine.serve.doors.wyoming.speaking import Speaking
from engine.serve.service import Service

MOST_CLIENTS: Final = 32
CONVERSATIONS: Final = 32
MESSAGES: Final = 20  # of one
_LONGEST_ID: Final = 200  # characters
_ENGLISH: Final = ["en"]  # of the voices, the phrase and the skills


@asynccontextmanager
async def wyoming_server(
    service: Service, factories: Factories, listener: socket.socket
) -> AsyncIterator[None]:
    """Serve on this socket until the block ends, which lets every client go."""
    door = _Door(service, factories)
    server = await asyncio.start_server(door.come_in, sock=listener, limit=HEAD_BYTES)
    try:
        yield
    finally:
        server.close()
        await door.close()


class _Door:
    def __init__(self, service: Service, factories: Factories) -> None:
        self._service = service
        self._wake = Wake(service.settings.wake, factories)
        self._answering = _Answering(service)
        self._visits: set[asyncio.Task[None]] = set()

    async def come_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(reader, writer, self._service.limits)
        visit = asyncio.create_task(self._receive(client))
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)

    async def close(self) -> None:
        """Let every client go."""
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)
        self._wake.stop()

    async def _receive(self, client: Client) -> None:
        try:
            await client.guarded(partial(self._meet, client))
        finally:
            client.close()

    async def _meet(self, client: Client) -> None:
        if len(self._visits) > MOST_CLIENTS:
            raise Busy("All {count} places are taken.", count=MOST_CLIENTS)
        speaking = Speaking(self._service, client)
        listening = Listening(self._service, self._wake, client)
        try:
            while (event := await client.read()) is not None:
                await self._take(event, client, speaking, listening)
            await speaking.settle()
        finally:
            speaking.stop()
            listening.stop()

    async def _take(
        self, event: Event, client: Client, speaking: Speaking, listening: Listening
    ) -> None:
        match event.type:
            case "describe":
                await client.send(await _described(self._service))
            case "ping":
                await client.send(Pong(event.data.get("text")))
            case "transcript":
                await self._answering.answer(checked(_Said, event.data), client)
            case "transcribe" | "detect" | "audio-start" | "audio-chunk" | "audio-stop":
                await listening.take(event)
            case kind if kind.startswith("synthesize"):
                await speaking.take(event)
            case _:
                pass  # newer clients may send other kinds


class _Said(Contextual):
    """What somebody said."""

    text: Text = ""


class _Answering:
    """The language model as an agent of Home Assistant's. Conversations are remembered by their
    ids, a few of them, in memory alone.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._conversations: OrderedDict[str, tuple[Message, ...]] = OrderedDict()

    async def answer(self, said: _Said, client: Client) -> None:
        """Answer a transcript."""
        context = said.context.model_dump(exclude_unset=True)
        key = said.context.conversation_id[:_LONGEST_ID]
        question = Message(Role.USER, said.text[: self._service.limits.text])
        history = (*self._conversations.get(key, ()), question)
        await client.send(HandledStart(context))
        text = ""
        try:
            async with aclosing(self._service.mind.reply(history, said.context.rate)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, TextDelta) and delta.text:
                        text += delta.text
                        await client.send(HandledChunk(delta.text))
        except (LanguageModelError, ModelError) as error:
            await client.send(NotHandled(str(error), context))
            return
        await client.send(Handled(text, context))
        await client.send(HandledStop())
        if key:
            kept = (*history, Message(Role.ASSISTANT, text))
            self._conversations[key] = kept[-MESSAGES:]
            self._conversations.move_to_end(key)
            if len(self._conversations) > CONVERSATIONS:
                self._conversations.popitem(last=False)


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
