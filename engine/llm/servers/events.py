"""The events of a stream, as servers really write them: with or without an empty line between two,
an error in a field of its own or in none, a whole answer although a stream was asked for.

Invariant: an event is given out as soon as its line has come, and what says nothing is left out.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

Event = Mapping[str, Any]

EVENT_STREAM = "text/event-stream"
DONE = "[done]"
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


async def events(stream: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """Each event's JSON; the last has the key DONE if the server says that it is the last.

    Raises ValueError (or RecursionError) for what is no JSON, and whatever the stream raises.
    """
    reader = _Reader()
    held = b""
    async for chunk in stream:
        *lines, held = _LINE_END.split(held + chunk)
        for line in lines:
            for event in reader.line(line):
                yield event
                if DONE in event:
                    return
    for line in (*held.splitlines(), b""):
        for event in reader.line(line):
            yield event
    for event in reader.end():
        yield event


class _Reader:
    """Lines in, events out."""

    def __init__(self) -> None:
        self._data = ""
        self._is_error = False  # the event was called so
        self._loose = ""  # what stands in no field

    def line(self, raw: bytes) -> Iterator[Event]:
        line = raw.decode("utf-8", "replace").removeprefix("\ufeff")
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            yield from self._event(whole=True)
        elif field == "data":
            self._data += f"\n{value}" if self._data else value
            yield from self._event(whole=False)
        elif field == "error":
            yield {"error": _json_or_text(value)}
        elif field == "event":
            self._is_error = value.strip() == "error"
        elif line[0] in '{[ }]\t"' or self._loose:
            self._loose += f"{line}\n"
            yield from self._loose_event()

    def end(self) -> Iterator[Event]:
        """What stands in no field and was not a line of JSON."""
        try:
            found = json.loads(self._loose or "null")
        except ValueError:
            return
        if isinstance(found, Mapping):
            yield found

    def _event(self, *, whole: bool) -> Iterator[Event]:
        """The event whose data is there. Unless it is `whole` it may go on in another line."""
        data = self._data.strip()
        if data.lower() == DONE:
            self._data = ""
            yield {DONE: True}
            return
        if not data or not (whole or _is_line(data)):
            return
        try:
            found = json.loads(data)
        except ValueError:
            if whole:
                raise
            return
        self._data = ""
        if isinstance(found, Mapping):
            yield {"error": found, **found} if self._is_error else found
        elif found is not None:
            raise ValueError("an event is no object")

    def _loose_event(self) -> Iterator[Event]:
        if not _is_line(self._loose.rstrip()):
            return
        try:
            found = json.loads(self._loose)
        except ValueError:
            return
        self._loose = ""
        yield found


def _is_line(data: str) -> bool:
    """Whether it may be all of an event. One of many lines is read at its end only: to try at each
    of them would take the square of their number.
    """
    return data.endswith("}") and "\n" not in data


def _json_or_text(value: str) -> object:
    try:
        return json.loads(value)
    except ValueError:
        return value
