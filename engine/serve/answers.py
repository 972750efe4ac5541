"""What a request says, read with care, and what goes wrong, in the shape that clients of OpenAI's
servers expect.

Invariant: a fault of ours is told without what it was about; a client's own is told with what to
change.
"""

import json
import logging
import math
from collections.abc import Collection, Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.errors import Busy, EngineError, InvalidInput, TimedOut

log = logging.getLogger(__name__)

_STATUS: Final[Mapping[type[EngineError], int]] = {Busy: 429, TimedOut: 408, InvalidInput: 400}
_KINDS: Final[Mapping[int, str]] = {429: "rate_limit_error", 401: "authentication_error"}
Fields = Mapping[str, Any]  # of a JSON object; whatever a client sent


class BadField(InvalidInput):
    """`field` of a request cannot be used."""

    def __init__(self, field: str, message: str, /, *, hint: str = "", **values: object) -> None:
        super().__init__(message, hint=hint, **values)
        self.field = field


class NotFound(InvalidInput):
    """There is no such thing here."""


async def read_fields(request: Request) -> Fields:
    """The JSON object of a request. InvalidInput for anything else."""
    return parse_fields(await request.body())


def parse_fields(text: str | bytes) -> Fields:
    """A JSON object. InvalidInput for anything else."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: no UTF-8, too
        raise InvalidInput("This is no JSON.") from error
    if not isinstance(fields, dict):
        raise InvalidInput("This is no JSON object.")
    return fields


def text_of(fields: Fields, name: str, default: str = "") -> str:
    """A text, or the default where there is none. BadField for another kind of value."""
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise BadField(name, "'{name}' has to be a text.", name=name)
    return value


def object_of(fields: Fields, name: str) -> Fields:
    """An object, empty where there is none. BadField for another kind of value."""
    value = fields.get(name)
    if value is not None and not isinstance(value, dict):
        raise BadField(name, "'{name}' has to be an object.", name=name)
    return value or {}


def choice_of(fields: Fields, name: str, choices: Collection[str], default: str) -> str:
    """One of several texts, or the default."""
    value = text_of(fields, name, default)
    if value not in choices:
        raise BadField(
            name, "'{name}' has to be one of: {choices}.", name=name, choices=", ".join(choices)
        )
    return value


def number_of(fields: Fields, name: str, lowest: float, highest: float) -> float | None:
    """A number within bounds; None where there is none."""
    value = fields.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not lowest <= value <= highest:
        raise BadField(
            name,
            "'{name}' has to be a number from {lowest} to {highest}.",
            name=name,
            lowest=f"{lowest:g}",
            highest=f"{highest:g}",
        )
    return float(value)


def check_model(name: str, names: Collection[str]) -> None:
    """NotFound for a model that is not served under this name."""
    if name not in names:
        raise NotFound("There is no model called '{name}' here.", name=name[:80])


def fault(error: Exception) -> dict[str, Any]:
    """What an event says of an error."""
    status = status_of(error)
    known = isinstance(error, EngineError | HTTPException) and status < 500
    return {
        "message": _text(error) if known else "The server failed; its log has more.",
        "type": _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error"),
        "param": error.field if isinstance(error, BadField) else None,
        "code": error.code if isinstance(error, EngineError) else None,
    }


def status_of(error: Exception) -> int:
    """Of HTTP."""
    if isinstance(error, HTTPException):
        return error.status_code
    if isinstance(error, NotFound):
        return 404
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


async def refusal(request: Request, error: Exception) -> Response:
    """The answer to a request that failed."""
    status = status_of(error)
    if status >= 500:
        log.error("a request failed kind=%s", type(error).__name__)
    response = JSONResponse({"error": fault(error)}, status)
    if status == 429:
        response.headers["retry-after"] = str(request.app.state.service.limits.retry_s)
    return response


def _text(error: Exception) -> str:
    return str(error.detail) if isinstance(error, HTTPException) else str(error)
