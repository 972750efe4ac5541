"""Parse and validate clients' requests and events, and report faults in the form of OpenAI's
servers.

Invariant: responses to internal errors contain no details; responses to a client's errors say what
to change. An invalid message on a WebSocket is answered with an error, and a client that sends too
many of them is disconnected; a silent one stays as long as it answers pings.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic import model_validator as validator
from starlette.endpoints import WebSocketEndpoint
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from engine.characters import join_surrogates
from engine.errors import Busy, Cancelled, EngineError, InvalidInput, TimedOut
from engine.serve.limits import RETRY_S
from engine.serve.service import Service
from engine.settings import FAST_LIMIT, SLOWEST

log = logging.getLogger(__name__)

_GONE: Final = (WebSocketDisconnect, RuntimeError, OSError)  # starlette's, once it is closed
_KINDS: Final[Mapping[int, str]] = {429: "rate_limit_error", 401: "authentication_error"}
_CLIENT_CLOSED: Final = 499  # the client hung up, or asked to end the answer
_STATUS: Final = (
    (Busy, 429),
    (TimedOut, 408),
    (InvalidInput, 400),
    (ClientDisconnect, _CLIENT_CLOSED),
    (Cancelled, _CLIENT_CLOSED),
)
_SUBPROTOCOLS: Final = ("realtime", "rubato")
_MOST_FAULTS: Final = 50
_POLICY: Final = 1008  # the protocol's number for the reason of a closed connection
Fields = Mapping[str, Any]  # of a JSON object; any values from a client


class Refusal(InvalidInput):
    """A request that cannot be fulfilled, because of a `field` if one is wrong. OpenAI's clients
    expect it with this HTTP `status` and the code `known_as`.
    """

    def __init__(
        self,
        message: str,
        /,
        *,
        field: str | None = None,
        status: int = 400,
        known_as: str = InvalidInput.code,
        **values: Any,
    ) -> None:
        super().__init__(message, **values)
        self.field, self.status, self.known_as = field, status, known_as


class Strict(BaseModel):
    """A JSON object: each value has the declared type of its field, other fields are kept."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


class Wire(Strict):
    """The same, with null equal to a missing field."""

    @validator(mode="before")
    @classmethod
    def _without_nulls(cls, fields: Any) -> Any:  # Any: a client's value
        if isinstance(fields, dict):
            return {name: value for name, value in fields.items() if value is not None}
        return fields


T = TypeVar("T")
W = TypeVar("W", bound=Strict)


def _whole(value: Any) -> Any:
    return join_surrogates(value) if isinstance(value, str) else value


def _name_of(value: Any) -> Any:
    return value.get("id", value) if isinstance(value, dict) else value


Text = Annotated[str, BeforeValidator(_whole)]  # an unpaired surrogate could not be sent back
VoiceName = Annotated[Text, BeforeValidator(_name_of)]  # a name, or an object with it as its id
Rate = Annotated[float, Field(ge=SLOWEST, le=FAST_LIMIT)]  # SPS
Speed = Annotated[float, Field(ge=0.25, le=4.0)]  # a factor on the voice's own pace
LeadMs = Annotated[float, Field(ge=0, le=60_000)]  # how far sound is made ahead of playback


class Paced(Wire):
    """Settings of the speaking rate; `rate` has priority over `speed`."""

    rate: Rate | None = None
    speed: Speed | None = None

    def target(self, own_pace: float) -> float | None:
        """Return the target in SPS; None = the user's own."""
        if self.rate is not None or self.speed in (None, 1.0):
            return self.rate
        return bounded(self.speed * own_pace)


def bounded(rate: float) -> float:
    """Return the nearest rate in SPS that a client may ask for."""
    return min(max(rate, SLOWEST), FAST_LIMIT)


def read_object(text: str | bytes) -> Fields:
    """Parse a JSON object. InvalidInput for anything else."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for invalid UTF-8
        raise InvalidInput("The request is not valid JSON.") from error
    if not isinstance(fields, dict):
        raise InvalidInput("The request is not a JSON object.")
    return fields


def checked(kind: type[W], fields: Fields) -> W:
    """Validate the fields as this model. Refusal for the first that does not fit."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        raise Refusal(
            "'{name}' cannot be used: {reason}.",
            field=field,
            name=field[:80],
            reason=fault["msg"][:400],
        ) from error


def fault(error: Exception) -> dict[str, Any]:
    """Return the error object of an event."""
    status = status_of(error)
    text = str(error.detail if isinstance(error, HTTPException) else error)
    return {
        "message": text if status < 500 else "The server failed; its log has more.",
        "type": _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error"),
        "param": getattr(error, "field", None),
        "code": getattr(error, "known_as", getattr(error, "code", None)),
    }


def status_of(error: Exception) -> int:
    """Return the HTTP status of an error."""
    known = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return getattr(error, "status_code", getattr(error, "status", known))


async def refusal(request: Request, error: Exception) -> Response:
    """Return the response to a failed request."""
    if (status := status_of(error)) >= 500:
        log.error("a request failed kind=%s", type(error).__name__)
    headers = {"retry-after": str(RETRY_S)} if status == 429 else {}
    return JSONResponse({"error": fault(error)}, status, headers)


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """Await `work` and return its result. If the client hangs up, cancel it and raise
    ClientDisconnect. The body of the request must have been read before.
    """

    async def hang_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(hang_up())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.wait((working, leaving))


async def server_sent(events: AsyncIterator[Fields]) -> AsyncIterator[bytes]:
    """Encode events as a stream over HTTP; a fault is the last one."""
    try:
        async for event in events:
            yield f"data: {json.dumps(event)}\n\n".encode()
    except EngineError as error:
        event = {"type": "error", "error": fault(error)}
        yield f"data: {json.dumps(event)}\n\n".encode()


class EventEndpoint(WebSocketEndpoint, Generic[W]):
    """One client, whose messages are JSON objects with a type, as are the replies. A subclass
    handles them in take() and names their model. `tasks` run for the client, and end with it.
    """

    kind: type[W]

    async def dispatch(self) -> None:
        self._faults = 0
        try:
            async with asyncio.TaskGroup() as self.tasks:
                await super().dispatch()
                raise WebSocketDisconnect  # the tasks end with it
        except* _GONE as gone:
            error: Exception = gone
            while isinstance(error, ExceptionGroup):  # an answer has its own tasks
                error = error.exceptions[0]
            log.info("a client has disconnected kind=%s", type(error).__name__)

    async def on_connect(self, websocket: WebSocket) -> None:
        offered = self.scope.get("subprotocols", [])
        await websocket.accept(next((name for name in _SUBPROTOCOLS if name in offered), None))
        self.socket = websocket
        self.service: Service = websocket.app.state.service

    async def on_receive(self, websocket: WebSocket, data: str | bytes) -> None:
        fields: Fields = {}
        try:
            fields = read_object(data or b"")
            await self.take(checked(self.kind, fields))
        except EngineError as error:
            self._faults += 1
            key = fields.get("event_id")
            await self.refuse(error, key if isinstance(key, str) else None)
            if self._faults > _MOST_FAULTS:
                await websocket.close(_POLICY, "Too many events were invalid.")
                raise WebSocketDisconnect(_POLICY) from error

    async def take(self, event: W) -> None:
        """Handle one of the client's events. InvalidInput for an invalid one."""
        raise NotImplementedError

    async def tell(self, kind: str, **fields: Any) -> None:
        """Send an event."""
        key = f"event_{secrets.token_hex(8)}"  # OpenAI's clients require one
        await self.socket.send_text(json.dumps({"type": kind, "event_id": key, **fields}))

    async def refuse(self, error: Exception, event_id: str | None = None) -> None:
        """Report an error, with the id of the client's event that caused it."""
        about = {**fault(error), "event_id": event_id}
        await self.tell("error", error=about, message=about["message"])
