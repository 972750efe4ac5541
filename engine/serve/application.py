"""The doors of one server, behind one guard.

Invariant: made of a Service that somebody else starts and stops; a second application over the same
service would be the same server.
"""

from typing import Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from engine.errors import EngineError
from engine.serve import speaking, streaming, transcribing
from engine.serve.answers import check_model, refusal
from engine.serve.guard import Access, Guard
from engine.serve.realtime import door
from engine.serve.service import Service

AGENTS: Final = "/mcp"
_GUARDED: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # by our own
_MOST_SESSIONS: Final = 16


def application(service: Service, access: Access, agents: MCPServer | None = None) -> ASGIApp:
    """All that is served over HTTP and WebSocket. `agents` None: no tools at AGENTS."""
    handlers = dict.fromkeys((EngineError, HTTPException, Exception), refusal)
    routes: list[BaseRoute] = [
        *speaking.routes(),
        *streaming.routes(),
        *door.routes(),
        *transcribing.routes(),
        *_models(),
    ]
    lifespan = None
    if agents is not None:
        tools = agents.streamable_http_app(
            streamable_http_path=AGENTS, transport_security=_GUARDED, max_sessions=_MOST_SESSIONS
        )
        routes += tools.routes
        lifespan = tools.router.lifespan_context
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
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
