"""A client of the door, and its events as they come over the wire.

The protocol's own reader takes whatever length a client announces. Invariant: no event is longer
than the limits allow. A client that does not read in time is let go, and so is one that was told of
a fault, since neither Home Assistant nor its satellites go on behind one.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Any, Final

from pydantic import Field
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_write_event

from engine.errors import EngineError, InvalidInput
from engine.serve.doors.requests import Rate, Text, Wire, checked, read_object
from engine.serve.limits import Limits

log = logging.getLogger(__name__)

HEAD_BYTES: Final = 64 << 10


class Context(Wire):
    """How a client wants its answer to be made."""

    rate: Rate | None = None
    conversation_id: Text = ""


class Contextual(Wire):
    """The data of an event that has one."""

    context: Context = Context()


class Client:
    """One connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        # A client may be silent for as long as its machine is there.
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE"):  # else two hours pass before the system asks
            connection.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, round(limits.idle_s) or 1
            )

    async def read(self) -> Event | None:
        """The next event; None = the client has hung up. InvalidInput for anything else, and for an
        event that is too long.
        """
        try:
            if not (line := await self._reader.readline()):
                return None
            head = checked(_Head, read_object(line))
            if max(head.data_length, head.payload_length) > self._limits.message_bytes:
                raise InvalidInput(
                    "An event has at most {most} bytes of data and of sound.",
                    most=self._limits.message_bytes,
                )
            more = await self._reader.readexactly(head.data_length)
            payload = await self._reader.readexactly(head.payload_length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except ValueError as error:  # a line without an end
            raise InvalidInput("This is no event.") from error
        return Event(head.type, {**head.data, **(read_object(more) if more else {})}, payload)

    async def send(self, event: Eventable) -> None:
        """ConnectionError when the client has gone or does not read."""
        try:
            async with asyncio.timeout(self._limits.write_s):
                await async_write_event(event.event(), self._writer)
        except TimeoutError as error:
            raise ConnectionAbortedError("a client does not read") from error

    async def guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it; a fault is told, and ends the connection."""
        try:
            await work()
        except ConnectionError:
            self.close()
        except EngineError as error:
            await self._fail(Error(str(error), error.code))
        except Exception as error:  # noqa: BLE001 - of ours: told without what it was about
            log.error("a client's wish failed kind=%s", type(error).__name__)  # noqa: TRY400
            await self._fail(Error("The server failed; its log has more.", "error"))

    def close(self) -> None:
        self._writer.close()

    async def _fail(self, error: Error) -> None:
        with suppress(ConnectionError):
            await self.send(error)
        self.close()


class _Head(Wire):
    type: str
    data: dict[str, Any] = Field(default_factory=dict)
    data_length: Annotated[int, Field(ge=0)] = 0
    payload_length: Annotated[int, Field(ge=0)] = 0
