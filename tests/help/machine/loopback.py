"""HTTP servers on loopback, which say nothing of their own and end with their context."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[ThreadingHTTPServer]:
    """Its connections end with it too: a client may keep them for another request."""
    connections, accept = list[Any](), server.process_request

    def process(request: Any, address: Any) -> None:
        connections.append(request)
        accept(request, address)

    server.process_request = process  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        for each in connections:
            with suppress(OSError):  # closed already
                each.shutdown(socket.SHUT_RDWR)
        server.server_close()


def serving(
    answer: Callable[[BaseHTTPRequestHandler], None],
) -> AbstractContextManager[ThreadingHTTPServer]:
    """Answers every GET, on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return running(ThreadingHTTPServer(("127.0.0.1", 0), Handler))


def free_port() -> int:
    """One that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
