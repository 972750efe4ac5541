"""All HTTP routes of one server behind one guard, and the HTTP server: uvicorn, with a timeout on
every wait.

A page in a browser can reach this machine's own addresses, also under a host name of its choice
(DNS rebinding), and CORS does not apply to WebSockets. So Host and Origin are checked for both.
Such a page does not know the token, so a request with the token may use any host name.

Invariant: the caller starts and stops the Service of an application. A refused request does not
reach a route, and no request content is logged. Every head and every body has a deadline, and
requests beyond _MOST_CONNECTIONS are refused.
"""

import asyncio
import hmac
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.errors import EngineError
from engine.serve.address import HERE
from engine.serve.doors import audio
from engine.serve.doors.realtime import RealtimeClient
from engine.serve.doors.requests import Refusal, fault, refusal
from engine.serve.limits import Limits
from engine.serve.service import Service

log = logging.getLogger(__name__)

AGENTS: Final = "/mcp"
TRANSCRIPTIONS: Final = "/v1/audio/transcriptions"
HEAD_S: Final = 10.0  # deadline for the head of a request
# our guard does that
_GUARDED: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_MOST_SESSIONS: Final = 16  # of agents
_MOST_CONNECTIONS: Final = 64
_ENDING_S: Final = 3  # for running speech when the server ends
_HEAD_BYTES: Final = 16 << 10
_SLOWEST_UPLOAD: Final = 64 << 10  # bytes a second
_DROP_S, _DROP_BYTES = 5.0, 64 << 20
_SUBPROTOCOL: Final = "openai-insecure-api-key."  # prefix of the key in a browser's WebSocket


@dataclass(frozen=True)
class Access:
    """`hosts`: names of this server. `token` is required for paths that begin with one of `locked`.
    `watch` is called at every change of the connected clients: addresses, each with its number of
    running requests and connections.
    """

    hosts: frozenset[str] = HERE
    token: str = ""
    locked: tuple[str, ...] = ()
    watch: Callable[[Mapping[str, int]], None] = lambda inside: None


def application(service: Service, access: Access, agents: MCPServer | None = None) -> ASGIApp:
    """Return the application for HTTP and WebSocket. `agents` None: no tools at AGENTS."""
    kinds = (EngineError, HTTPException, ClientDisconnect, Exception)
    handlers = dict.fromkeys(kinds, refusal)
    running = "/v1/audio/speech/{key}"
    routes: list[BaseRoute] = [
        Route("/v1/audio/speech", audio.speak, methods=["POST"]),
        Route(running, audio.running, methods=["GET", "PATCH", "DELETE"]),
        WebSocketRoute("/v1/audio/speech/stream", audio.Stream),
        Route("/v1/audio/voices", audio.voices),
        Route(TRANSCRIPTIONS, audio.transcribe, methods=["POST"]),
        WebSocketRoute("/v1/realtime", RealtimeClient),
        Route("/v1/models", audio.models),
    ]
    lifespan = None
    if agents is not None:
        tools = agents.streamable_http_app(
            streamable_http_path=AGENTS, transport_security=_GUARDED, max_sessions=_MOST_SESSIONS
        )
        routes += tools.routes
        lifespan = tools.router.lifespan_context
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.state.service = service
    return _Guard(app, access, service.limits)


def http_server(
    app: ASGIApp, limits: Limits, wanted: Callable[[], bool] = lambda: True
) -> uvicorn.Server:
    """Return a server that ends once it is not `wanted`; serve() runs it."""

    async def look() -> None:
        server.should_exit |= not wanted()

    config = uvicorn.Config(
        app,
        http=_HeadTimeout,
        ws="websockets-sansio",
        ws_max_size=limits.message_bytes,
        ws_ping_interval=limits.ping_s,  # the only limit on a silent WebSocket client
        ws_ping_timeout=limits.ping_s,
        ws_per_message_deflate=False,  # a small message could unpack into a large one
        lifespan="on",
        log_config=None,
        log_level="warning",  # independent of our level: debug would log spoken text
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_ENDING_S,
        callback_notify=look,
        timeout_notify=0,  # every second
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )
    server = uvicorn.Server(config)
    return server


class _HeadTimeout(H11Protocol):
    """Close a connection if the head of a request is not complete in time; uvicorn's own timer ends
    with the first byte of a head.
    """

    _head_timer: asyncio.TimerHandle | None = None  # None = no head is awaited

    def connection_made(self, transport: Any) -> None:  # Any: as uvicorn types it
        super().connection_made(transport)
        self._time_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._time_head(is_awaited=False)

    def _time_head(self, *, is_awaited: bool = True) -> None:
        in_request = self.cycle is not None and not self.cycle.response_complete
        is_http = self.transport.get_protocol() is self  # it was not upgraded to a WebSocket
        is_awaited = is_awaited and is_http and not in_request
        if is_awaited and self._head_timer is None:
            loop = asyncio.get_running_loop()
            self._head_timer = loop.call_later(HEAD_S, self.transport.close)
        elif not is_awaited and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class _Guard:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp, access: Access, limits: Limits) -> None:
        self._app = app
        self._access = access
        self._limits = limits
        self._inside: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
        except Refusal as why:
            await _refuse(scope, receive, send, why)
            return
        address = (scope.get("client") or ("",))[0]
        bounded = _BoundedRequest(receive, send, self._limits, self._longest_body(scope))
        receive_bounded = bounded.receive if scope["type"] == "http" else receive
        self._count(address, 1)
        try:
            await self._app(scope, receive_bounded, bounded.send)
        except Exception as error:  # noqa: BLE001 - the server would log the request's content
            log.error("a client was disconnected kind=%s", type(error).__name__)  # noqa: TRY400
        finally:
            self._count(address, -1)

    def _count(self, address: str, by: int) -> None:
        self._inside[address] += by
        self._inside = +self._inside  # without zero entries
        self._access.watch(dict(self._inside))

    def _check(self, scope: Scope) -> None:
        """Check host, origin, token and size of a request. Refusal."""
        headers = Headers(scope=scope)
        given, right = _given_token(headers).encode(), self._access.token.encode()
        has_token = bool(right) and hmac.compare_digest(given, right)  # constant time
        host = headers.get("host", "")
        name, own_number = _hostname("//" + host), (scope.get("server") or ("",))[0]
        if not has_token and name not in {*self._access.hosts, own_number}:
            raise Refusal(
                "The host name '{name}' is unknown.",
                status=421,
                hint="Give the token, or add the name to serve.names in the settings.",
                name=name[:80],
            )
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise Refusal("Pages of other servers may not use this one.", status=403)
        if scope["path"].startswith(self._access.locked) and not has_token:
            key = "invalid_api_key"
            raise Refusal("The token is missing or wrong.", status=401, known_as=key)
        length, most = headers.get("content-length", "0"), self._longest_body(scope)
        if not length.isdecimal() or int(length) > most:
            raise _too_large(most)

    def _longest_body(self, scope: Scope) -> int:
        is_upload = scope["path"] == TRANSCRIPTIONS
        return self._limits.upload_bytes if is_upload else self._limits.body_bytes


@dataclass
class _BoundedRequest:
    """One request with limits on the size of its body (`most` bytes), its arrival, and the client's
    reading of the response.
    """

    source: Receive
    sink: Send
    limits: Limits
    most: int
    bytes: int = 0
    began_at: float | None = None  # s on the loop's clock; None = not waited yet
    whole: bool = False  # the body is complete

    async def receive(self) -> Message:
        if self.whole:
            return await self.source()
        if self.began_at is None:
            self.began_at = asyncio.get_running_loop().time()
        limit_s = self.limits.body_s + self.bytes / _SLOWEST_UPLOAD
        try:
            async with asyncio.timeout_at(self.began_at + limit_s):
                message = await self.source()
        except TimeoutError as error:
            raise Refusal("The request did not arrive in time.", status=408) from error
        self.bytes += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        if self.bytes > self.most:
            await _drop_body(self.source)
            raise _too_large(self.most)
        return message

    async def send(self, message: Message) -> None:
        """Send; ConnectionError for a client that does not read, which is then disconnected."""
        try:
            async with asyncio.timeout(self.limits.write_s):
                await self.sink(message)
        except TimeoutError as error:
            raise ConnectionAbortedError("a client does not read") from error


def _too_large(most: int) -> Refusal:
    return Refusal("A request may have at most {most} bytes.", status=413, most=most)


async def _refuse(scope: Scope, receive: Receive, send: Send, why: Refusal) -> None:
    if scope["type"] == "websocket":  # before it was accepted: the handshake fails with 403
        await send({"type": "websocket.close", "code": 1008, "reason": why.message})
        return
    await _drop_body(receive)
    headers = {"connection": "close"}
    await JSONResponse({"error": fault(why)}, why.status, headers)(scope, receive, send)


async def _drop_body(receive: Receive) -> None:
    """Read on for a while: a client that is still sending when the connection closes never sees the
    answer.
    """
    dropped, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(_DROP_S):
            while more and dropped < _DROP_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                more = message.get("more_body", False)


def _hostname(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # a broken IPv6 address
        return ""


def _given_token(headers: Headers) -> str:
    kind, _, given = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return given.strip()
    keys = (each.strip() for each in headers.get("sec-websocket-protocol", "").split(","))
    return next((key[len(_SUBPROTOCOL) :] for key in keys if key.startswith(_SUBPROTOCOL)), "")
