"""HTTP servers on loopback, which log nothing and end with their context."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[ThreadingHTTPServer]:
    """Run a server. Its connections end with the context too, because a client may keep
    them open.
    """
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
    """Run a server that answers every GET, on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return running(ThreadingHTTPServer(("127.0.0.1", 0), Handler))


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
