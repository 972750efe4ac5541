"""The events of a stream, as servers really write them: with or without an empty line between two,
an error in a field of its own or in none, one complete answer although a stream was requested.

Invariant: an event is emitted as soon as its line is complete. Events without content are left out.
The empty event ALIVE follows each piece that arrives, because comments and progress are signs of
life too. No more bytes of an answer are read than the limits allow, and nothing is decompressed,
because a few bytes could become gigabytes.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from typing import Any

import httpx

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
