"""The HTTP server under the doors: uvicorn, with an end to every patience.

Invariant: a connection that asks nothing is closed, one that asks too often at once is refused, and
neither is logged.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.serve.limits import Limits

_MOST_CONNECTIONS: Final = 64
HEAD_S: Final = 10.0  # for the head of a first request
_ENDING_S: Final = 3  # for what is being spoken when the server ends
_HEAD_BYTES: Final = 16 << 10


def http_server(
    app: ASGIApp,
    limits: Limits,
    started: Callable[[], None],
    wanted: Callable[[], bool] = lambda: True,
) -> uvicorn.Server:
    """A server that calls `started` once it listens, and ends when it is not `wanted` any more;
    serve() runs it.
    """
    config = uvicorn.Config(
        app,
        http=_Impatient,
        ws="websockets-sansio",
        ws_max_size=limits.message_bytes,
        ws_per_message_deflate=False,  # a small message could unpack into a large one
        lifespan="on",
        log_config=None,
        log_level="warning",  # whatever our own is: at debug it writes down what is said
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_ENDING_S,
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )
    return _Server(config, started, wanted)


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, started: Callable[[], None], wanted: Callable[[], bool]
    ) -> None:
        super().__init__(config)
        self._told = started
        self._wanted = wanted

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._told()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or not self._wanted()


class _Impatient(H11Protocol):
    """Closes a connection on which no request has begun."""

    def connection_made(self, transport: Any) -> None:  # Any: as uvicorn types it
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(HEAD_S, self._look, transport)

    def _look(self, transport: asyncio.Transport) -> None:
        is_http = transport.get_protocol() is self  # it was not upgraded to a WebSocket
        if is_http and self.cycle is None and not transport.is_closing():
            transport.close()
