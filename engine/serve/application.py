"""The doors of one server, behind one guard.

Invariant: made of a Service that somebody else starts and stops; a second application over the same
service would be the same server.
"""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from engine.errors import EngineError
from engine.serve import speaking
from engine.serve.answers import refusal
from engine.serve.guard import Access, Guard
from engine.serve.service import Service


def application(service: Service, access: Access) -> ASGIApp:
    """All that is served over HTTP and WebSocket."""
    handlers = dict.fromkeys((EngineError, HTTPException, Exception), refusal)
    app = Starlette(routes=speaking.routes(), exception_handlers=handlers)
    app.state.service = service
    return Guard(app, access, service.limits)
