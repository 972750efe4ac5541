"""A server on loopback that speaks the hub's protocol, and can misbehave."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c0ffee" + "0" * 34


@dataclass
class Hub:
    """`files` by path; `cut_at` closes the next download after so many bytes; `lies` sends other
    bytes than the record says; `status` answers everything with it."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut_at: int | None = None
    lies: bool = False
    status: int = 200
    requests: list[str] = field(default_factory=list)
    endpoint: str = ""


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class in a closure
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Quiet."""

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            hub.requests.append(f"{self.command} {self.path} {self.headers.get('Range', '')}")
            name = re.split(
                r"/resolve/[^/]+/|/releases/[^/]+/download/|/latest/download/", self.path
            )
            content = hub.files.get(name[-1])
            if hub.status != 200 or content is None:
                self._refuse(hub.status if hub.status != 200 else 404)
                return
            begin = int((self.headers.get("Range") or "bytes=0-")[6:].split("-")[0])
            self._head(content, begin)
            if body:
                self._send(content, begin)

        def _refuse(self, status: int) -> None:
            self.send_response(status)
            if status == 404:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _head(self, content: bytes, begin: int) -> None:
            large = len(content) > 1_000
            git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            etag = hashlib.sha256(content).hexdigest() if large else git
            self.send_response(206 if begin else 200)
            self.send_header("Content-Length", str(len(content) - begin))
            if begin:
                self.send_header(
                    "Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}"
                )
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{etag}"')
            if large:
                self.send_header("X-Linked-Etag", f'"{etag}"')
                self.send_header("X-Linked-Size", str(len(content)))
            self.end_headers()

        def _send(self, content: bytes, begin: int) -> None:
            sent = bytes(len(content)) if hub.lies else content
            cut, hub.cut_at = hub.cut_at, None
            self.wfile.write(sent[begin:cut])
            if cut is not None:
                self.close_connection = True

    return Handler
