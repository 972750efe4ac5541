"""The module's side of the engine process: start it, ask for sentences, end it when it is idle.

The two share a pair of sockets that no other program can reach: the process gets it as its standard
input. It is started on demand, as a child of the module, of which the daemon runs one for a person.
Each request and each event is one line of JSON; the samples of an event follow its line.
"""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

COMMAND: Final = (
    *(sys.executable, "-P", "-m"),
    "engine.serve.doors.speech_dispatcher.voice_process",
)
RETRY_S: Final = 60.0  # after a process that ended by itself
END_S: Final = 2.0  # for a process to end by itself before it is killed
LARGEST_LINE: Final = 1 << 20  # bytes
_BUFFER: Final = 32 << 10  # bytes of speech on their way: 0.7 s, so that little is made in vain


@dataclass(frozen=True)
class Event:
    """A line from the process, with the samples behind it."""

    fields: dict[str, Any]
    samples: bytes = b""


class Sentences:
    """`highest`: the fastest rate of the voice, in syllables a second; None until it is loaded."""

    def __init__(
        self, command: Sequence[str] = COMMAND, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.highest: float | None = None
        self._command = command
        self._now = now
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._buffer = bytearray()
        self._number = 0
        self._retry_at = 0.0

    @property
    def descriptor(self) -> int | None:
        """The socket, for select(); None while there is no process."""
        return self._socket.fileno() if self._socket else None

    def start(self) -> None:
        """Start the process, unless it runs or has just failed."""
        if self._socket is not None or self._now() < self._retry_at:
            return
        ours, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    self._command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL
                )
            except OSError:
                ours.close()
                self._retry_at = self._now() + RETRY_S
                return
        self._socket = ours

    def ask(self, request: dict[str, Any]) -> int:
        """Ask for a sentence, which ends the one before; return its number."""
        self._number += 1
        self._send({**request, "number": self._number})
        return self._number

    def cancel(self) -> None:
        """End the running sentence. Events with its number may still arrive."""
        self._send({})

    def receive(self) -> list[Event]:
        """Return the events that have arrived, after select(). Without a process there are none."""
        if self._socket is None:
            return []
        try:
            chunk = self._socket.recv(1 << 16)
        except OSError:
            chunk = b""
        if not chunk:
            self._fail()
            return []
        self._buffer += chunk
        events: list[Event] = []
        while (event := self._next()) is not None:
            self.highest = event.fields.get("highest", self.highest)
            events.append(event)
        return events

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if self._socket is not None:
            self._socket.close()
        self._socket, self.highest = None, None
        self._buffer.clear()
        if process is not None:
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _next(self) -> Event | None:
        end = self._buffer.find(b"\n", 0, LARGEST_LINE)
        if end < 0:
            return None
        fields = json.loads(self._buffer[:end])
        size = fields.get("bytes", 0)
        if len(self._buffer) < end + 1 + size:
            return None
        samples = bytes(self._buffer[end + 1 : end + 1 + size])
        del self._buffer[: end + 1 + size]
        return Event(fields, samples)

    def _send(self, fields: dict[str, Any]) -> None:
        if self._socket is None:
            return
        try:
            self._socket.sendall(json.dumps(fields).encode() + b"\n")
        except OSError:
            self._fail()

    def _fail(self) -> None:
        self.close()
        self._retry_at = self._now() + RETRY_S
