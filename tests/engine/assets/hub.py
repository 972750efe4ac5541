"""A server on loopback that speaks the hub's protocol, and can misbehave."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from tests.help.machine.loopback import running

HOLD_S = 120.0
COMMIT = "c0ffee" + "0" * 34


@dataclass
class Hub:
    """`files` of every repository by path, `releases` by tag; `cut_at` closes
    the next download after so many bytes; `hold_at` falls silent after so many until `let_go`;
    `lies` sends other bytes than the record says; `ignores_range` sends every file from its
    begin; `claims` says another length; `status` answers everything with it, `busy` so many
    times, and `retry_after`.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    releases: dict[str, dict[str, bytes]] = field(default_factory=dict)
    cut_at: int | None = None
    hold_at: int | None = None
    let_go: threading.Event = field(default_factory=threading.Event)
    lies: bool = False
    ignores_range: bool = False
    claims: int | None = None
    status: int = 200
    busy: int = 0
    retry_after: str = ""
    requests: list[str] = field(default_factory=list)
    endpoint: str = ""


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    with running(_Server(hub)) as server:
        hub.endpoint = f"http://127.0.0.1:{server.server_port}"
        try:
            yield hub
        finally:
            hub.let_go.set()


def _content(hub: Hub, path: str) -> bytes | None:
    if found := re.search(r"/resolve/[^/]+/(.+)", path):
        return hub.files.get(found[1])
    if found := re.search(r"/releases/download/([^/]+)/(.+)", path):
        return hub.releases.get(found[1], {}).get(found[2])
    return None


class _Server(ThreadingHTTPServer):
    def __init__(self, hub: Hub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def hub(self) -> Hub:
        assert isinstance(self.server, _Server)
        return self.server.hub

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        self.hub.requests.append(f"{self.command} {self.path} {self.headers.get('Range', '')}")
        content = _content(self.hub, unquote(self.path))
        if self.hub.busy and body:
            self.hub.busy -= 1
            self._refuse(503)
        elif self.hub.status != 200 or content is None:
            self._refuse(self.hub.status if self.hub.status != 200 else 404)
        else:
            asked = self.headers.get("Range") if not self.hub.ignores_range else None
            begin = int((asked or "bytes=0-")[6:].split("-")[0])
            if begin >= len(content):
                self._refuse(416)
                return
            self._head(content, begin)
            if body:
                self._send(content, begin)

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "EntryNotFound")
        if self.hub.retry_after:
            self.send_header("Retry-After", self.hub.retry_after)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _head(self, content: bytes, begin: int) -> None:
        self.send_response(206 if begin else 200)
        length = len(content) - begin if self.hub.claims is None else self.hub.claims
        self.send_header("Content-Length", str(length))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.send_header("Accept-Ranges", "bytes")
        if "/resolve/" in self.path:  # a release has no hash of any kind
            self._record(content)
        self.end_headers()

    def _record(self, content: bytes) -> None:
        large = len(content) > 1_000
        git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        etag = hashlib.sha256(content).hexdigest() if large else git
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{etag}"')
        if large:
            self.send_header("X-Linked-Etag", f'"{etag}"')
            self.send_header("X-Linked-Size", str(len(content)))

    def _send(self, content: bytes, begin: int) -> None:
        sent = bytes(len(content)) if self.hub.lies else content
        cut, self.hub.cut_at = self.hub.cut_at, None
        with suppress(ConnectionError):  # cancelled there
            if self.hub.hold_at is not None:
                self.wfile.write(sent[begin : self.hub.hold_at])
                self.hub.let_go.wait(HOLD_S)
                begin = self.hub.hold_at
            self.wfile.write(sent[begin:cut])
        if cut is not None:
            self.close_connection = True
