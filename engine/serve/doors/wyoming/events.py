"""Events as they come over the wire, read with care.

The protocol's own reader takes whatever length a client announces. Invariant: no event is longer
than the limits allow, and what is none is told apart from the end.
"""

import asyncio
import json
from typing import Any, Final

from wyoming.event import Event

from engine.errors import InvalidInput
from engine.serve.doors.answers import number_of
from engine.serve.limits import Limits
from engine.settings import FASTEST, SLOWEST

HEAD_BYTES: Final = 64 << 10


async def read_event(reader: asyncio.StreamReader, limits: Limits) -> Event | None:
    """The next event; None = the client has hung up. InvalidInput for what is no event, or too
    long.
    """
    try:
        return await _read(reader, limits)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except (ValueError, RecursionError) as error:  # ValueError: a line without an end, too
        raise InvalidInput("This is no event.") from error


async def _read(reader: asyncio.StreamReader, limits: Limits) -> Event | None:
    line = await reader.readline()
    if not line:
        return None
    head = _object(line)
    data, kind = head.get("data"), head.get("type")
    data = {} if data is None else data
    more = await reader.readexactly(_length(head, "data_length", limits))
    payload = await reader.readexactly(_length(head, "payload_length", limits))
    if not isinstance(kind, str) or not isinstance(data, dict):
        raise ValueError("an event has a type, and its data are an object")  # noqa: TRY004
    if more:
        data = {**data, **_object(more)}
    return Event(kind, data, payload)


def _object(text: bytes) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - as for what is no JSON
    return value


def _length(head: dict[str, Any], name: str, limits: Limits) -> int:
    length = head.get(name) or 0
    if type(length) is not int or not 0 <= length <= limits.message_bytes:
        raise InvalidInput(
            "An event has at most {most} bytes of data and of sound.", most=limits.message_bytes
        )
    return length


def context_of(event: Event) -> dict[str, Any]:
    """What a client wants its answer to be made with; BadField for what is no object."""
    context = event.data.get("context") or {}
    if not isinstance(context, dict):
        raise InvalidInput("'context' has to be an object.")
    return context


def rate_of(event: Event) -> float | None:
    """`context.rate` in SPS; None where there is none. BadField for what is no rate."""
    return number_of(context_of(event), "rate", SLOWEST, FASTEST)
