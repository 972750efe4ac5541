"""An OpenAI-compatible server that does what a test's script says, faults included."""

import http.server
import json
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.help.machine.loopback import running


class ScriptedServer:
    """Answers every POST with the script's next entry: a function of the request's handler."""

    def __init__(self, certificate: tuple[Path, Path] | None = None) -> None:
        """`certificate` and its key: the server speaks TLS."""
        self.script: list[Callable[[http.server.BaseHTTPRequestHandler], None]] = []
        self.listing = lists({"id": "first"})  # answers every GET
        self.requests: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()  # ends what stalls
        self.gone = threading.Event()  # set when a client has hung up
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                outer.requests.append(json.loads(self.rfile.read(length)))
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                outer.script.pop(0)(self)
                self.close_connection = True

            def do_GET(self):
                outer.listing(self)
                self.close_connection = True

            def log_message(self, *_args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(*certificate)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
            server.handle_error = lambda *_: None  # a client that refuses the certificate
        self.address = f"http{'s' * bool(certificate)}://127.0.0.1:{server.server_port}/v1"
        self._open = ExitStack()
        self._open.enter_context(running(server))

    def stop(self) -> None:
        self.released.set()
        self._open.close()


def send(handler, status: int, body: str, kind: str = "application/json") -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body.encode())))
    handler.end_headers()
    handler.wfile.write(body.encode())


def begin_events(handler) -> None:
    begin(handler, 200, "text/event-stream")


def begin(handler, status: int, kind: str = "application/json", **headers: str) -> None:
    """An answer whose length is not told."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def chunk(delta: object = None, reason: object = None, **more: object) -> dict:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": reason}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice], **more}


def content(words: object, reason: object = None) -> dict:
    return chunk({"content": words}, reason)


def event(handler, delta: dict) -> None:
    handler.wfile.write(b"data: %s\n\n" % json.dumps(chunk(delta)).encode())


DONE = b"data: [DONE]\n\n"


def sends(*parts: bytes | dict, status: int = 200, kind: str = "text/event-stream", **headers: str):
    """An answer of these events, or bytes as they are."""

    def answer(handler):
        begin(handler, status, kind, **headers)
        for part in parts:
            raw = part if isinstance(part, bytes) else b"data: %s\n\n" % json.dumps(part).encode()
            handler.wfile.write(raw)

    return answer


def says(*pieces: str):
    """A whole, well-formed answer."""
    return sends(*map(content, pieces), chunk(reason="stop"), DONE)


def calls(*fragments: dict):
    """An answer that calls tools, in fragments."""
    events = (chunk({"tool_calls": [fragment]}) for fragment in fragments)
    return sends(*events, chunk(reason="tool_calls"), DONE)


def refuses(status: int, body: object, kind: str = "application/json"):
    """An answer of a text, or of JSON."""
    text = body if isinstance(body, str) else json.dumps(body)
    return lambda handler: send(handler, status, text, kind)


def fails(status: int, message: str = "no"):
    return refuses(status, {"error": {"message": message}})


def lists(*entries: object):
    return refuses(200, {"object": "list", "data": [*entries]})


def hangs_up(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)
