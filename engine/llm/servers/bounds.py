"""How much a language-model server may send; the client library has no limit of its own.

Invariant: no more bytes of an answer are read than the bounds allow, and nothing is decompressed,
because a few bytes could become gigabytes.
"""

from collections.abc import AsyncIterator

import httpx2

from engine.llm.servers.events import EVENT_STREAM

MAX_STREAM_BYTES = 16 << 20  # the longest reply we accept, with 300 bytes around each letter
MAX_LINE_BYTES = 1 << 20  # of a stream; hundreds of times the longest that servers send
MAX_ANSWER_BYTES = 4 << 20  # without streaming; the longest lists of models have about 1 MB

UNCOMPRESSED = "identity"


class OutOfBounds(Exception):
    """The server sent more than any answer needs, or compressed it unasked."""


async def bound(response: httpx2.Response) -> None:
    """A hook for the client: the rest of this response can be read only within the bounds."""
    if response.headers.get("Content-Encoding", UNCOMPRESSED).lower() != UNCOMPRESSED:
        raise OutOfBounds
    assert isinstance(response.stream, httpx2.AsyncByteStream), "the client is asynchronous"
    if response.headers.get("Content-Type", "").lower().startswith(EVENT_STREAM):
        response.stream = _Bounded(response.stream, MAX_STREAM_BYTES, MAX_LINE_BYTES)
    else:
        response.stream = _Bounded(response.stream, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES)


class _Bounded(httpx2.AsyncByteStream):
    """Raises OutOfBounds when an answer, or a line of it, grows too long."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int, longest_line: int) -> None:
        self._stream = stream
        self._most = most
        self._longest_line = longest_line

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = line = 0
        async for chunk in self._stream:
            total += len(chunk)
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
            line = line + len(chunk) if end < 0 else len(chunk) - end - 1
            if total > self._most or line > self._longest_line:
                raise OutOfBounds
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
