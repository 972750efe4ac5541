"""Who may come in, and how much they may bring: in front of every door that speaks HTTP.

A page in a browser can reach this machine's own addresses, also under a name of its own making (DNS
rebinding), and CORS does not hold for WebSockets: so Host and Origin are checked for both.
Invariant: a refused request has reached no door. Nothing of a request is logged.
"""

import asyncio
import hmac
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.serve.doors.requests import fault
from engine.serve.server import HERE
from engine.serve.service import Limits

log = logging.getLogger(__name__)

_SUBPROTOCOL: Final = "openai-insecure-api-key."  # how a browser's WebSocket gives a key
_DROP_S, _DROP_BYTES = 5.0, 64 << 20


@dataclass(frozen=True)
class Access:
    """`hosts`: names this server is known by. `token` is asked for under the paths that begin with
    one of `locked`. `watch` hears of every change of who is inside: addresses, each with how
    many requests and connections of it go on.
    """

    hosts: frozenset[str] = HERE
    token: str = ""
    locked: tuple[str, ...] = ()
    watch: Callable[[Mapping[str, int]], None] = lambda inside: None


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp, access: Access, limits: Limits) -> None:
        self._app = app
        self._access = access
        self._limits = limits
        self._inside: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif refusal := self._refusal(scope):
            await _refuse(scope, receive, send, refusal)
        else:
            who = (scope.get("client") or ("",))[0]
            passage = _Passage(receive, send, self._limits)
            coming = passage.receive if scope["type"] == "http" else receive
            self._count(who, 1)
            try:
                await self._app(scope, coming, passage.send)
            except Exception as error:  # noqa: BLE001 - the server would log what it was about
                log.error("a client was let go kind=%s", type(error).__name__)  # noqa: TRY400
            finally:
                self._count(who, -1)

    def _count(self, who: str, by: int) -> None:
        self._inside[who] += by
        self._inside = +self._inside  # without those that have gone
        self._access.watch(dict(self._inside))

    def _refusal(self, scope: Scope) -> HTTPException | None:
        """Why somebody may not come in."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        own_number = (scope.get("server") or ("",))[0]
        if _hostname("//" + host) not in {*self._access.hosts, own_number}:
            return HTTPException(421, "This server is not called so.")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return HTTPException(403, "Pages of other servers may not use this one.")
        locked = scope["path"].startswith(self._access.locked)
        given, right = _given_token(headers).encode(), self._access.token.encode()
        if locked and not hmac.compare_digest(given, right):  # takes as long whatever differs
            return HTTPException(401, "The token is missing or wrong.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._limits.body_bytes:
            return HTTPException(413, _too_large(self._limits))
        return None


@dataclass
class _Passage:
    """Counts what comes in, and waits for what goes out to be read, both for a limited time."""

    coming: Receive
    going: Send
    limits: Limits
    bytes: int = 0
    whole: bool = False  # the body has arrived

    async def receive(self) -> Message:
        if self.whole:
            return await self.coming()
        try:
            message = await asyncio.wait_for(self.coming(), self.limits.body_s)
        except TimeoutError as error:
            raise HTTPException(408, "The request did not arrive in time.") from error
        self.bytes += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        if self.bytes > self.limits.body_bytes:
            await _drop_body(self.coming)
            raise HTTPException(413, _too_large(self.limits))
        return message

    async def send(self, message: Message) -> None:
        """ConnectionError for a client that does not read; the server then lets it go."""
        try:
            await asyncio.wait_for(self.going(message), self.limits.write_s)
        except TimeoutError as error:
            raise ConnectionAbortedError("a client does not read") from error


def _too_large(limits: Limits) -> str:
    return f"A request has at most {limits.body_bytes} bytes."


async def _refuse(scope: Scope, receive: Receive, send: Send, why: HTTPException) -> None:
    if scope["type"] == "websocket":  # before it was accepted: the handshake fails with 403
        await send({"type": "websocket.close", "code": 1008, "reason": why.detail})
        return
    await _drop_body(receive)
    headers = {"connection": "close"}
    await JSONResponse({"error": fault(why)}, why.status_code, headers)(scope, receive, send)


async def _drop_body(receive: Receive) -> None:
    """Read on for a while: a client that still sends when the connection closes never sees the
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
