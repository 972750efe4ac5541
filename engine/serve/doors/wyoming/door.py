"""A TCP server for Wyoming, Home Assistant's protocol.

The protocol knows no authentication, so whoever reaches the address is served. Invariant: it
listens where it is told and nowhere else; each connection has its own speech, ears and wake phrase.
"""

import asyncio
from typing import Final

from wyoming.event import Event
from wyoming.ping import Pong

from engine.errors import Busy, TimedOut
from engine.runtime.factories import Factories
from engine.serve.doors.wyoming.answering import Answering
from engine.serve.doors.wyoming.client import Client
from engine.serve.doors.wyoming.description import described
from engine.serve.doors.wyoming.events import HEAD_BYTES, read_event
from engine.serve.doors.wyoming.listening import Listening
from engine.serve.doors.wyoming.speaking import Speaking
from engine.serve.doors.wyoming.waking import Wake
from engine.serve.service import Service

PORT: Final = 10_700
MOST_CLIENTS: Final = 32


class Door:
    """Made of a Service that somebody else starts and stops."""

    def __init__(self, service: Service, factories: Factories) -> None:
        self._service = service
        self._wake = Wake(service.settings.wake, factories)
        self._clients: set[asyncio.Task[None]] = set()
        self._answering = Answering(service)
        self._server: asyncio.Server | None = None  # None = closed

    async def open(self, host: str = "127.0.0.1", port: int = PORT) -> int:
        """Listen; returns the port (0 takes a free one). OSError where it is taken."""
        self._server = await asyncio.start_server(self._come_in, host, port, limit=HEAD_BYTES)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Let every client go."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        self._wake.stop()

    async def _come_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        client = Client(writer, self._service.limits)
        self._clients.add(task)
        try:
            if len(self._clients) > MOST_CLIENTS:
                await client.guarded(_refuse())
            else:
                speaking = Speaking(self._service, client)
                listening = Listening(self._service, self._wake, client)
                visit = _Visit(self._service, speaking, listening, self._answering, client)
                await visit.serve(reader)
        except asyncio.CancelledError:  # close(); asyncio would report it as a fault
            client.close()
        finally:
            self._clients.discard(task)


async def _refuse() -> None:
    raise Busy("All {count} places are taken.", count=MOST_CLIENTS)


class _Visit:
    """One connection."""

    def __init__(
        self,
        service: Service,
        speaking: Speaking,
        listening: Listening,
        answering: Answering,
        client: Client,
    ) -> None:
        self._service = service
        self._speaking = speaking
        self._listening = listening
        self._answering = answering
        self._client = client

    async def serve(self, reader: asyncio.StreamReader) -> None:
        try:
            await self._client.guarded(self._all(reader))
        finally:
            self._speaking.stop()
            self._listening.stop()
            self._client.close()

    async def _all(self, reader: asyncio.StreamReader) -> None:
        while (event := await self._next(reader)) is not None:
            await self._take(event)
        await self._speaking.settle()

    async def _next(self, reader: asyncio.StreamReader) -> Event | None:
        """The next event; None = the client has hung up. TimedOut when none comes and nothing is
        said to it either.
        """
        limits = self._service.limits
        reading = asyncio.ensure_future(read_event(reader, limits))
        try:
            while not reading.done():
                await asyncio.wait([reading], timeout=limits.idle_s)
                if not (reading.done() or self._speaking.busy):
                    raise TimedOut(
                        "Nothing came for {seconds} seconds.", seconds=f"{limits.idle_s:g}"
                    )
            return reading.result()
        finally:
            reading.cancel()

    async def _take(self, event: Event) -> None:
        """Kinds that are not known are passed over: newer clients may send them."""
        match event.type:
            case "describe":
                await self._client.send(await described(self._service))
            case "ping":
                await self._client.send(Pong(event.data.get("text")))
            case "transcript":
                await self._answering.answer(event, self._client)
            case "transcribe" | "detect" | "audio-start" | "audio-chunk" | "audio-stop":
                await self._listening.take(event)
            case _:
                await self._speaking.take(event)
