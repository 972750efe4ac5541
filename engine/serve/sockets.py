"""Events over a WebSocket: JSON objects with a type, both ways.

Invariant: what is no event is answered with an error, and who sends too many of those is let go; so
is who says nothing while nothing happens.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from engine.errors import EngineError, InvalidInput
from engine.serve.answers import Fields, fault, parse_fields, text_of
from engine.serve.limits import Limits

_MOST_FAULTS: Final = 50
POLICY: Final = 1008  # why a connection is closed, in the protocol's numbers
_SUBPROTOCOLS: Final = ("realtime", "rubato")


class Events:
    """A connection that was accepted."""

    def __init__(self, socket: WebSocket, limits: Limits) -> None:
        self._socket = socket
        self._limits = limits
        self._faults = 0

    async def accept(self) -> None:
        offered = self._socket.scope.get("subprotocols", [])
        chosen = next((name for name in _SUBPROTOCOLS if name in offered), None)
        await self._socket.accept(chosen)

    async def tell(self, kind: str, **fields: Any) -> None:
        """Send an event."""
        key = f"event_{secrets.token_hex(8)}"  # OpenAI's clients insist on one
        await self._socket.send_text(json.dumps({"type": kind, "event_id": key, **fields}))

    async def send(self, data: bytes) -> None:
        await self._socket.send_bytes(data)

    async def refuse(self, error: Exception, **fields: Any) -> None:
        """Tell what went wrong."""
        about = {**fault(error), **fields}
        await self.tell("error", error=about, message=about["message"])

    async def each(self, busy: Callable[[], bool]) -> AsyncIterator[Fields]:
        """The client's events, until it goes. While nothing is `busy` it may be silent for as long
        as the limits allow.
        """
        while True:
            try:
                async with asyncio.timeout(self._limits.idle_s) as patience:
                    text = await self._next(patience, busy)
            except TimeoutError:
                await self._socket.close(POLICY, "Nothing came for too long.")
                return
            except (WebSocketDisconnect, RuntimeError):  # starlette's, once it is closed
                return
            try:
                event = parse_fields(text)
                text_of(event, "type")
            except InvalidInput as error:
                if not await self.note(error):
                    return
            else:
                yield event

    async def note(self, error: EngineError, **fields: Any) -> bool:
        """Tell that an event could not be used; False when there were too many of those."""
        self._faults += 1
        if self._faults > _MOST_FAULTS:
            await self._socket.close(POLICY, "Too many events were wrong.")
            return False
        await self.refuse(error, **fields)
        return True

    async def close(self) -> None:
        await self._socket.close()

    async def _next(self, patience: asyncio.Timeout, busy: Callable[[], bool]) -> str | bytes:
        receiving = asyncio.ensure_future(self._socket.receive())
        try:
            while not receiving.done():
                await asyncio.wait([receiving], timeout=self._limits.idle_s / 4)
                if busy():
                    now = asyncio.get_running_loop().time()
                    patience.reschedule(now + self._limits.idle_s)
        finally:
            receiving.cancel()
        message = receiving.result()
        if message["type"] != "websocket.receive":
            raise WebSocketDisconnect
        return message.get("text") or message.get("bytes") or b""
