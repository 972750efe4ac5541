"""An OpenAI-compatible server that does what a test's script says, faults included."""

import http.server
import json
import socket
import threading
from collections.abc import Callable


class ScriptedServer:
    """Answers every POST with the script's next entry: a function of the request's handler."""

    def __init__(self) -> None:
        self.script: list[Callable[[http.server.BaseHTTPRequestHandler], None]] = []
        self.listing = lists_one  # answers every GET
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

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def send(handler, status: int, body: str, kind: str = "application/json") -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body.encode())))
    handler.end_headers()
    handler.wfile.write(body.encode())


def lists_one(handler) -> None:
    send(handler, 200, json.dumps({"object": "list", "data": [{"id": "first"}]}))


def begin_events(handler) -> None:
    begin(handler, 200, "text/event-stream")


def begin(handler, status: int, kind: str = "application/json", **headers: str) -> None:
    """An answer whose length is not told."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def event(handler, delta: dict, finish: str | None = None) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    handler.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
    handler.wfile.flush()


def says(*pieces: str):
    """A whole, well-formed answer."""

    def answer(handler):
        begin_events(handler)
        for piece in pieces:
            event(handler, {"content": piece})
        event(handler, {}, "stop")
        handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def calls(*fragments: dict):
    """An answer that calls tools, in fragments."""

    def answer(handler):
        begin_events(handler)
        for fragment in fragments:
            event(handler, {"tool_calls": [fragment]})
        event(handler, {}, "tool_calls")
        handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def fails(status: int, message: str = "no"):
    return lambda handler: send(handler, status, json.dumps({"error": {"message": message}}))


def garbage(handler):
    begin_events(handler)
    handler.wfile.write(b"data: {{{ not json\n\n")


def wrong_shape(handler):
    begin_events(handler)
    handler.wfile.write(b'data: {"hello": ["world"]}\n\ndata: [1, 2]\n\ndata: [DONE]\n\n')


def web_page(handler):
    send(handler, 200, "<html>Welcome</html>", "text/html")


def no_choices(handler):
    begin_events(handler)
    handler.wfile.write(b'data: {"choices": []}\n\ndata: [DONE]\n\n')


def nothing(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)


def breaks_off(handler):
    begin_events(handler)
    event(handler, {"content": "William"})


def breaks_a_chunk(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    event(handler, {"content": "William"})
