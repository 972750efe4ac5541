"""HTTP requests to one language-model server, and the events of its streams, as servers really
write them: with or without an empty line between two, an error in a field of its own or in none,
one complete answer although a stream was requested.

Invariant: a request uses nothing of the environment except the key in the variable that the
settings name. A server on this computer is reached directly, another one through the proxy that the
standard variables name for it. Redirects are not followed: the conversation and the key go only to
the address in the settings. No more bytes of an answer are read than the limits allow, and nothing
is decompressed, because a few bytes could become gigabytes.

An event is emitted as soon as its line is complete; events without content are left out. The empty
event ALIVE follows each piece that arrives, because comments and progress are signs of life too.
"""

import json
import os
import re
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import httpx

from engine.characters import join_surrogates
from engine.errors import ModelError
from engine.llm.servers.address import invalid, is_local, parts_of
from engine.settings import LanguageModelSettings

Event = Mapping[str, Any]

EVENT_STREAM = "text/event-stream"
DONE = "[done]"
ALIVE: Event = {}
_SAYS = frozenset(("choices", "error"))  # an event without one of them is empty
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


async def events(stream: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """Yield each event's JSON, the last with DONE if marked. Raises ValueError, RecursionError."""
    reader = _Reader()
    held = b""
    async for chunk in stream:
        *lines, held = _LINE_END.split(held + chunk)
        for line in lines:
            for event in reader.line(line):
                yield event
                if DONE in event:
                    return
        yield ALIVE
    for line in (*held.splitlines(), b""):
        for event in reader.line(line):
            yield event
    for event in reader.end():
        yield event


class _Reader:
    """Converts lines into events."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._is_error = False  # the event's name
        self._loose: list[str] = []  # lines outside all fields

    def line(self, raw: bytes) -> Iterator[Event]:
        line = raw.decode("utf-8", "replace").removeprefix("\ufeff")
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            yield from self._event(whole=True)
            self._data.clear()
            self._is_error = False
        elif field == "data":
            self._data.append(value)
            yield from self._event(whole=False)
        elif field == "error":
            error: object = value
            with suppress(ValueError):
                error = json.loads(value)
            yield {"error": error}
        elif field == "event":
            self._is_error = value.strip() == "error"
        elif line[0] in '{[ }]\t"' or self._loose:
            self._loose.append(line)

    def end(self) -> Iterator[Event]:
        """Return the lines outside all fields: an answer that was not streamed."""
        try:
            found = json.loads("\n".join(self._loose) or "null")
        except ValueError:
            return
        if isinstance(found, Mapping):
            yield found

    def _event(self, *, whole: bool) -> Iterator[Event]:
        """Yield the event of the data so far; unless `whole`, more lines may follow."""
        if not whole and len(self._data) > 1:  # parsing at each line would take quadratic time
            return
        data = "\n".join(self._data).strip()
        if data.lower() == DONE:
            self._data.clear()
            yield {DONE: True}
            return
        if not data or not (whole or data.endswith("}")):
            return
        try:
            found = json.loads(data)
        except ValueError:
            if whole:
                raise
            return
        self._data.clear()
        if isinstance(found, Mapping):
            found = {"error": found, **found} if self._is_error else found
            if not _SAYS.isdisjoint(found):
                yield found
        elif found is not None:
            raise ValueError("an event is no object")


MAX_STREAM_BYTES = 16 << 20  # the longest reply we accept, with 300 bytes around each letter
MAX_LINE_BYTES = 1 << 20  # of a stream; hundreds of times the longest that servers send
MAX_ANSWER_BYTES = 4 << 20  # without streaming; the longest lists of models have about 1 MB

UNCOMPRESSED = "identity"


class OutOfBounds(Exception):
    """The server sent more than any answer needs, or compressed it without being asked."""


async def chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body as it arrives. Raises OutOfBounds if it or one of its lines is too long."""
    if response.headers.get("Content-Encoding", UNCOMPRESSED).lower() != UNCOMPRESSED:
        raise OutOfBounds
    most = longest_line = MAX_ANSWER_BYTES
    if response.headers.get("Content-Type", "").lower().startswith(EVENT_STREAM):
        most, longest_line = MAX_STREAM_BYTES, MAX_LINE_BYTES
    total = line = 0
    async for chunk in response.aiter_raw():
        total += len(chunk)
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        line = line + len(chunk) if end < 0 else len(chunk) - end - 1
        if total > most or line > longest_line:
            raise OutOfBounds
        yield chunk


async def read_body(response: httpx.Response) -> bytes:
    """Return the complete body. Raises OutOfBounds."""
    return b"".join([chunk async for chunk in chunks(response)])


CONNECT_S = 3.0  # a server on this computer or network answers in milliseconds, or not at all
_SENDABLE = re.compile(r"[ -~]+")  # what a header may hold


class Refused(Exception):
    """The server answered with an error status; `body` is its explanation."""

    def __init__(self, status: int, body: str, headers: httpx.Headers) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


class Client:
    """One server. `proxy`: its address without its password; empty = none is used. Raises
    ModelError for an invalid address, key, proxy or file of certificates.
    """

    def __init__(self, settings: LanguageModelSettings) -> None:
        parts = parts_of(settings.address)
        # Without TLS, trust no certificate and read no file.
        plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls = _tls() if parts.scheme == "https" else plain
        proxy = _proxy_for(settings.address)
        scheme, mark, rest = proxy.partition("://")
        self.proxy = f"{scheme}{mark}{rest.rpartition('@')[2]}"
        self._root = settings.address.rstrip("/")
        headers = {"User-Agent": "rubato", "Accept-Encoding": UNCOMPRESSED}
        if key := _key(settings.key_variable):
            headers["Authorization"] = f"Bearer {key}"
        try:
            httpx.URL(self._root)
        except httpx.InvalidURL as error:
            raise invalid(settings.address) from error
        try:
            self._http = httpx.AsyncClient(
                headers=headers,
                trust_env=False,
                verify=tls,
                proxy=_proxy(proxy),
                # The caller has the timeouts for an answer, because they depend on the request.
                timeout=httpx.Timeout(None, connect=CONNECT_S),
                follow_redirects=False,
            )
        except (ImportError, ValueError, httpx.InvalidURL) as error:  # SOCKS, or not an address
            raise ModelError(
                "The proxy {proxy} cannot be used for the language-model server at {address}.",
                hint="Name an http:// or https:// proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, "
                "or add the server to NO_PROXY.",
                proxy=self.proxy,
                address=settings.address,
            ) from error

    async def models(self) -> bytes:
        """Return the server's list of models. Raises Refused, OutOfBounds, HTTPError."""
        async with aclosing(await self._send("GET", "models")) as response:
            return await read_body(response)

    async def chat(self, request: dict[str, Any]) -> httpx.Response:
        """Return an answer to read and close. Raises Refused, OutOfBounds, HTTPError."""
        content = join_surrogates(json.dumps(request, ensure_ascii=False)).encode()
        return await self._send("POST", "chat/completions", content)

    async def close(self) -> None:
        await self._http.aclose()

    async def _send(self, method: str, path: str, content: bytes | None = None) -> httpx.Response:
        request = self._http.build_request(
            method,
            f"{self._root}/{path}",
            content=content,
            headers={"Content-Type": "application/json"} if content else None,
        )
        response = await self._http.send(request, stream=True)
        if response.is_success:
            return response
        async with aclosing(response):
            body = (await read_body(response)).decode("utf-8", "replace")
        raise Refused(response.status_code, body, response.headers)


def _tls() -> ssl.SSLContext:
    """Return a context that trusts SSL_CERT_FILE and SSL_CERT_DIR if set, else certifi and the
    system. SSLKEYLOGFILE is not used, unlike in ssl.create_default_context().
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if not (file or folder):
        context.load_default_certs()
    try:
        context.load_verify_locations(file or (None if folder else certifi.where()), folder or None)
    except OSError as error:
        raise ModelError(
            "The certificates in {path} cannot be read: {error}.",
            hint="Correct the environment variables SSL_CERT_FILE and SSL_CERT_DIR, or clear them.",
            path=file or folder,
            error=error.strerror or error,
        ) from error
    return context


def _proxy_for(address: str) -> str:
    """Return the proxy that the standard variables name for this address; empty = none."""
    parts = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    if not proxy or is_local(address) or proxy_bypass(host):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _proxy(address: str) -> httpx.Proxy | None:
    """Return the proxy. Raises ValueError or InvalidURL for an invalid address."""
    if not address:
        return None
    parts = urlsplit(address)
    _ = parts.port  # raises above 65535, which httpx does not notice
    return httpx.Proxy(address, ssl_context=_tls() if parts.scheme == "https" else None)


def _key(variable: str) -> str:
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(
            "The environment variable {name} holds no key for the language-model server.",
            hint="Set it before starting, or clear the variable's name in the settings.",
            name=variable,
        )
    if not _SENDABLE.fullmatch(key):
        raise ModelError(
            "The key in the environment variable {name} has characters that keys do not have.",
            hint="Copy the key again, without quotation marks and line breaks.",
            name=variable,
        )
    return key
