"""The requests and events of clients, read with care, and the faults that they get back, in the
shape that clients of OpenAI's servers expect.

Invariant: a fault of ours is told without what it was about; a client's own is told with what to
change.
"""

import json
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic import model_validator as validator
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.characters import whole
from engine.errors import Busy, EngineError, InvalidInput, TimedOut
from engine.settings import FASTEST, SLOWEST

log = logging.getLogger(__name__)

Fields = Mapping[str, Any]  # of a JSON object; whatever a client sent
_KINDS: Final[Mapping[int, str]] = {429: "rate_limit_error", 401: "authentication_error"}
_CODES: Final[Mapping[int, str]] = {401: "invalid_api_key"}


class BadField(InvalidInput):
    """`field` of a request cannot be used."""

    def __init__(self, field: str, message: str, /, *, hint: str = "", **values: object) -> None:
        super().__init__(message, hint=hint, **values)
        self.field = field


class Refused(InvalidInput):
    """What OpenAI's clients expect at times, and know by this code."""

    def __init__(self, known_as: str, message: str, /, *, hint: str = "", **values: object) -> None:
        super().__init__(message, hint=hint, **values)
        self.known_as = known_as


class NotFound(InvalidInput):
    """There is no such thing here."""


class Elsewhere(InvalidInput):
    """It is at another engine of this server."""


_STATUS: Final = (
    (Busy, 429),
    (TimedOut, 408),
    (NotFound, 404),
    (Elsewhere, 409),
    (InvalidInput, 400),
)


# ------------------------------------------------------------------------ what is read


class Strict(BaseModel):
    """A JSON object: each value is of the type that its field declares, other fields are kept."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


class Wire(Strict):
    """The same, where null stands for a field that is not there."""

    @validator(mode="before")
    @classmethod
    def _without_nulls(cls, fields: Any) -> Any:  # Any: whatever a client sent
        if not isinstance(fields, dict):
            return fields
        return {name: value for name, value in fields.items() if value is not None}


W = TypeVar("W", bound=Strict)


def _whole(value: Any) -> Any:
    return whole(value) if isinstance(value, str) else value


def _name_of(value: Any) -> Any:
    return value.get("id", value) if isinstance(value, dict) else value


Text = Annotated[str, BeforeValidator(_whole)]  # half a character could not be told back
VoiceName = Annotated[Text, BeforeValidator(_name_of)]  # a name, or an object with it as its id
Rate = Annotated[float, Field(ge=SLOWEST, le=FASTEST)]  # SPS
Speed = Annotated[float, Field(ge=0.25, le=4.0)]  # a factor on the voice's own pace
LeadMs = Annotated[float, Field(ge=0, le=60_000)]  # how far sound is made ahead of the ear


class Paced(Wire):
    """Where both are given, the rate wins."""

    rate: Rate | None = None
    speed: Speed | None = None

    def target(self, own_pace: float) -> float | None:
        """SPS; None = the person's own."""
        if self.rate is not None or self.speed in (None, 1.0):
            return self.rate
        return min(max(self.speed * own_pace, SLOWEST), FASTEST)


def read_object(text: str | bytes) -> Fields:
    """A JSON object. InvalidInput for anything else."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: no UTF-8, too
        raise InvalidInput("This is no JSON.") from error
    if not isinstance(fields, dict):
        raise InvalidInput("This is no JSON object.")
    return fields


def checked(kind: type[W], fields: Fields) -> W:
    """The fields as this model. BadField for the first that does not fit."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        raise BadField(
            field, "'{name}' cannot be used: {reason}.", name=field[:80], reason=fault["msg"][:400]
        ) from error


def check_model(name: str, names: Collection[str]) -> None:
    """NotFound for a model that is not served under this name."""
    if name not in names:
        raise NotFound("There is no model called '{name}' here.", name=name[:80])


# ------------------------------------------------------------------------ what goes wrong


def fault(error: Exception) -> dict[str, Any]:
    """What an event says of an error."""
    status = status_of(error)
    text = str(error.detail if isinstance(error, HTTPException) else error)
    return {
        "message": text if status < 500 else "The server failed; its log has more.",
        "type": _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error"),
        "param": getattr(error, "field", None),
        "code": getattr(error, "known_as", getattr(error, "code", _CODES.get(status))),
    }


def status_of(error: Exception) -> int:
    """Of HTTP."""
    if isinstance(error, HTTPException):
        return error.status_code
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


async def refusal(request: Request, error: Exception) -> Response:
    """The answer to a request that failed."""
    status = status_of(error)
    if status >= 500:
        log.error("a request failed kind=%s", type(error).__name__)
    response = JSONResponse({"error": fault(error)}, status)
    if status == 429:
        response.headers["retry-after"] = str(request.app.state.service.limits.retry_s)
    return response


async def server_sent(events: AsyncIterator[Fields]) -> AsyncIterator[bytes]:
    """A stream of events over HTTP; a fault is its last."""
    try:
        async for event in events:
            yield f"data: {json.dumps(event)}\n\n".encode()
    except EngineError as error:
        event = {"type": "error", "error": fault(error)}
        yield f"data: {json.dumps(event)}\n\n".encode()
