"""The doors of one server behind one guard, and the HTTP server under them: uvicorn, with an end to
every patience.

Invariant: an application is made of a Service that somebody else starts and stops. A connection
that asks nothing is closed, one that asks too often at once is refused, and neither is logged.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.errors import EngineError
from engine.serve.doors import speaking, transcribing
from engine.serve.doors.realtime.client import RealtimeClient
from engine.serve.doors.requests import check_model, refusal
from engine.serve.doors.streaming import Stream
from engine.serve.guard import Access, Guard
from engine.serve.service import Limits, Service

AGENTS: Final = "/mcp"
HEAD_S: Final = 10.0  # for the head of a first request
_GUARDED: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # by our own
_MOST_SESSIONS: Final = 16  # of agents
_MOST_CONNECTIONS: Final = 64
_ENDING_S: Final = 3  # for what is being spoken when the server ends
_HEAD_BYTES: Final = 16 << 10
_MODELS: Final = {
    name: {"id": name, "object": "model", "created": 0, "owned_by": "rubato"}
    for name in (*speaking.MODELS, *transcribing.MODELS)
}


def application(service: Service, access: Access, agents: MCPServer | None = None) -> ASGIApp:
    """All that is served over HTTP and WebSocket. `agents` None: no tools at AGENTS."""
    handlers = dict.fromkeys((EngineError, HTTPException, Exception), refusal)
    running = "/v1/audio/speech/{key}"
    routes: list[BaseRoute] = [
        Route("/v1/audio/speech", speaking.speak, methods=["POST"]),
        Route(running, speaking.running, methods=["GET", "PATCH", "DELETE"]),
        WebSocketRoute("/v1/audio/speech/stream", Stream),
        Route("/v1/audio/voices", speaking.voices),
        Route("/v1/audio/transcriptions", transcribing.transcribe, methods=["POST"]),
        WebSocketRoute("/v1/realtime", RealtimeClient),
        Route("/v1/models", _list_models),
        Route("/v1/models/{name}", _show_model),
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


async def _list_models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": list(_MODELS.values())})


async def _show_model(request: Request) -> Response:
    name = request.path_params["name"]
    check_model(name, _MODELS)
    return JSONResponse(_MODELS[name])


def http_server(
    app: ASGIApp, limits: Limits, wanted: Callable[[], bool] = lambda: True
) -> uvicorn.Server:
    """A server that ends when it is not `wanted` any more; serve() runs it."""

    async def look() -> None:
        server.should_exit |= not wanted()

    config = uvicorn.Config(
        app,
        http=_Impatient,
        ws="websockets-sansio",
        ws_max_size=limits.message_bytes,
        ws_ping_interval=limits.ping_s,  # the only end of a WebSocket whose client says nothing
        ws_ping_timeout=limits.ping_s,
        ws_per_message_deflate=False,  # a small message could unpack into a large one
        lifespan="on",
        log_config=None,
        log_level="warning",  # whatever our own is: at debug it writes down what is said
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_ENDING_S,
        callback_notify=look,
        timeout_notify=0,  # every second
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )
    server = uvicorn.Server(config)
    return server


class _Impatient(H11Protocol):
    """Closes a connection on which no request has begun."""

    def connection_made(self, transport: Any) -> None:  # Any: as uvicorn types it
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(HEAD_S, self._look, transport)

    def _look(self, transport: asyncio.Transport) -> None:
        is_http = transport.get_protocol() is self  # it was not upgraded to a WebSocket
        if is_http and self.cycle is None and not transport.is_closing():
            transport.close()
