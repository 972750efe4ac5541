"""A package index on loopback (PEP 503) that can misbehave."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Index:
    """Offers the wheels in `shelf`. `held` keeps the second half of each back until it is set;
    `endless` sends more and more; `requests` are the paths asked for."""

    shelf: Path
    held: threading.Event | None = None
    endless: bool = False
    requests: list[str] = field(default_factory=list)
    address: str = ""


@contextmanager
def indexing(shelf: Path) -> Iterator[Index]:
    index = Index(shelf)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(index))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    index.address = f"http://127.0.0.1:{server.server_port}/simple"
    try:
        yield index
    finally:
        if index.held is not None:
            index.held.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Quiet."""

        def do_GET(self) -> None:
            index.requests.append(self.path)
            last = self.path.rstrip("/").split("/")[-1]
            wheels = [path for path in index.shelf.glob("*.whl") if path.name.startswith(last)]
            if last.endswith(".whl"):
                self._send(wheels[0].read_bytes())
            else:
                links = "".join(f'<a href="/{path.name}">{path.name}</a>' for path in wheels)
                page = f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
                self._begin("text/html", len(page))
                self.wfile.write(page)

        def _begin(self, kind: str, length: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            if not index.endless or kind == "text/html":
                self.send_header("Content-Length", str(length))
            self.end_headers()

        def _send(self, wheel: bytes) -> None:
            self._begin("application/octet-stream", len(wheel))
            half = len(wheel) // 2
            with suppress(ConnectionError):  # cancelled there
                self.wfile.write(wheel[:half])
                if index.held is not None:
                    index.held.wait()
                self.wfile.write(wheel[half:])
                while index.endless:
                    self.wfile.write(bytes(100_000))

    return Handler
