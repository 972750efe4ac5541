"""The doors of one server, behind one guard.

Invariant: made of a Service that somebody else starts and stops; a second application over the same
service would be the same server.
"""

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from engine.errors import EngineError
from engine.serve import speaking, streaming, transcribing
from engine.serve.answers import check_model, refusal
from engine.serve.guard import Access, Guard
from engine.serve.realtime import door
from engine.serve.service import Service


def application(service: Service, access: Access) -> ASGIApp:
    """All that is served over HTTP and WebSocket."""
    handlers = dict.fromkeys((EngineError, HTTPException, Exception), refusal)
    routes = [
        *speaking.routes(),
        *streaming.routes(),
        *door.routes(),
        *transcribing.routes(),
        *_models(),
    ]
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.state.service = service
    return Guard(app, access, service.limits)


def _models() -> list[Route]:
    return [Route("/v1/models", _list_models), Route("/v1/models/{name}", _show_model)]


async def _list_models(request: Request) -> Response:
    names = dict.fromkeys((*speaking.MODELS, *transcribing.MODELS))
    return JSONResponse({"object": "list", "data": [_model(name) for name in names]})


async def _show_model(request: Request) -> Response:
    name = request.path_params["name"]
    check_model(name, {*speaking.MODELS, *transcribing.MODELS})
    return JSONResponse(_model(name))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "rubato"}
