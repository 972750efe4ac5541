"""Limits on the answers of a language-model server.

Invariant: no more bytes of an answer are read than the limits allow, and nothing is decompressed,
because a few bytes could become gigabytes.
"""

from collections.abc import AsyncIterator

import httpx

from engine.llm.servers.events import EVENT_STREAM

MAX_STREAM_BYTES = 16 << 20  # the longest reply we accept, with 300 bytes around each letter
MAX_LINE_BYTES = 1 << 20  # of a stream; hundreds of times the longest that servers send
MAX_ANSWER_BYTES = 4 << 20  # without streaming; the longest lists of models have about 1 MB

UNCOMPRESSED = "identity"


class OutOfBounds(Exception):
    """The server sent more than any answer needs, or compressed it without being asked."""


async def chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body as it arrives. Raises OutOfBounds when it, or one of its lines, grows too
    long.
    """
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


async def body(response: httpx.Response) -> bytes:
    """Return the complete body. Raises OutOfBounds."""
    return b"".join([chunk async for chunk in chunks(response)])
