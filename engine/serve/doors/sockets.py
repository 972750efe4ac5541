"""Events over a WebSocket: JSON objects with a type, both ways.

Invariant: a message that is no event is answered with an error, and a client that sends too many of
those is let go. A client that says nothing stays for as long as it answers pings.
"""

import json
import secrets
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

from starlette.websockets import WebSocket, WebSocketDisconnect

from engine.errors import EngineError
from engine.serve.doors.requests import Fields, Wire, checked, fault, read_object
from engine.serve.service import Service

GONE: Final = (WebSocketDisconnect, RuntimeError, OSError)  # starlette's, once it is closed
_MOST_FAULTS: Final = 50
_POLICY: Final = 1008  # why a connection is closed, in the protocol's numbers
_SUBPROTOCOLS: Final = ("realtime", "rubato")
E = TypeVar("E", bound=Wire)
Told = TypeVar("Told", contravariant=True)


class Events:
    """To a client."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def tell(self, kind: str, **fields: Any) -> None:
        """Send an event."""
        key = f"event_{secrets.token_hex(8)}"  # OpenAI's clients insist on one
        await self._socket.send_text(json.dumps({"type": kind, "event_id": key, **fields}))

    async def send(self, data: bytes) -> None:
        if data:
            await self._socket.send_bytes(data)

    async def refuse(self, error: Exception, event_id: str | None = None) -> None:
        """Tell what went wrong, with the event of the client's that asked for it."""
        about = {**fault(error), "event_id": event_id}
        await self.tell("error", error=about, message=about["message"])


class Session(Protocol[Told]):
    """What a door does with a client."""

    async def begin(self) -> None: ...

    async def take(self, event: Told) -> None:
        """One of the client's events. InvalidInput for one that cannot be used."""
        ...

    async def leave(self) -> None:
        """The client has gone."""
        ...


async def meet(
    socket: WebSocket, kind: type[E], enter: Callable[[Service, Events], Session[E]]
) -> None:
    """Let a session take a client's events, of this `kind`, until either ends it."""
    offered = socket.scope.get("subprotocols", [])
    await socket.accept(next((name for name in _SUBPROTOCOLS if name in offered), None))
    events = Events(socket)
    session = enter(socket.app.state.service, events)
    faults = 0
    try:
        await session.begin()
        while faults <= _MOST_FAULTS:
            message = await socket.receive()
            if message["type"] != "websocket.receive":
                return
            fields: Fields = {}
            try:
                fields = read_object(message.get("text") or message.get("bytes") or b"")
                await session.take(checked(kind, fields))
            except EngineError as error:
                faults += 1
                key = fields.get("event_id")
                await events.refuse(error, key if isinstance(key, str) else None)
        await socket.close(_POLICY, "Too many events were wrong.")
    except GONE:
        return
    finally:
        await session.leave()
