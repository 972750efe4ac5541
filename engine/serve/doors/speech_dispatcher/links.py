"""The module's two connections: the daemon's pipes, and the engine process.

The process is a child of the module, of which the daemon runs one for a person. Its standard input
is one end of a pair of sockets, which no other program can reach. A message is an object of JSON,
and behind a line break the samples, if it has any. Input of any kind is bounded.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Final

LARGEST_LINE: Final = 400_000  # bytes; the rest of a line is dropped
_CHUNK: Final = 4_000  # bytes of samples in one message
COMMAND: Final = (
    *(sys.executable, "-P", "-m"),
    "engine.serve.doors.speech_dispatcher.voice_process",
)
RETRY_S: Final = 60.0  # after a process that ended by itself
END_S: Final = 2.0  # for a process to end by itself before it is killed
_BUFFER: Final = 32 << 10  # bytes of speech on their way: 0.7 s, so that little is made in vain


class Streams:
    """The two descriptors that the daemon reads and writes. `is_open`: it has not closed ours."""

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self.is_open = True
        self._target = target
        self._buffer = bytearray()

    def read(self) -> None:
        """Read what has come, after select()."""
        chunk = os.read(self.source, 1 << 16)
        self.is_open = bool(chunk)
        if len(self._buffer) > LARGEST_LINE and b"\n" not in self._buffer:
            end = chunk.find(b"\n")
            chunk = chunk[end:] if end >= 0 else b""
        self._buffer += chunk

    def has_input(self) -> bool:
        """Return whether read() would not wait, and has room."""
        has_room = self.is_open and len(self._buffer) < LARGEST_LINE
        return has_room and bool(select.select([self.source], [], [], 0)[0])

    def peek(self) -> str | None:
        """Return the next line without taking it; None if there is none yet."""
        end = self._buffer.find(b"\n")
        return bytes(self._buffer[:end]).decode("utf-8", "replace") if end >= 0 else None

    def take(self) -> None:
        """Remove the next line."""
        del self._buffer[: self._buffer.find(b"\n") + 1]

    def write(self, *lines: str) -> None:
        self._put("".join(f"{line}\n" for line in lines).encode())

    def send(self, samples: bytes, hertz: int) -> None:
        """Send 16-bit samples. Line breaks and the escape itself are escaped."""
        for at in range(0, len(samples), _CHUNK):
            part = samples[at : at + _CHUNK]
            values = {"bits": 16, "num_channels": 1, "sample_rate": hertz}
            values |= {"num_samples": len(part) // 2, "big_endian": 0}
            head = "".join(f"705-{name}={value}\n" for name, value in values.items()).encode()
            escaped = part.replace(b"\x7d", b"\x7d\x5d").replace(b"\n", b"\x7d\x2a")
            self._put(head + b"705-AUDIO\0" + escaped + b"\n705 AUDIO\n")

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._target, view) :]


class Sentences:
    """`highest`: the fastest rate of the voice, in syllables a second; None until it is loaded.
    `number`: of the last sentence.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.highest: float | None = None
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self.number = 0
        self._retry_at = 0.0

    @property
    def descriptor(self) -> int | None:
        """The socket, for select(); None while there is no process."""
        return self._connection.fileno() if self._connection else None

    def start(self) -> None:
        """Start the process, unless it runs or has just failed."""
        if self._connection is not None or time.monotonic() < self._retry_at:
            return
        ours, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        self._connection = Connection(ours.detach())
        try:
            with theirs:
                self._process = subprocess.Popen(
                    self._command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL
                )
        except OSError:
            self._fail()

    def ask(self, request: dict[str, Any]) -> int:
        """Ask for a sentence, which ends the one before; return its number."""
        self.number += 1
        self._send({**request, "number": self.number})
        return self.number

    def cancel(self) -> None:
        """End the running sentence. Events with its number may still arrive."""
        self._send({})

    def receive(self) -> tuple[dict[str, Any], bytes]:
        """Return the next event and its samples, after select(); empty if the process has ended."""
        try:
            if self._connection is not None:
                head, _, samples = self._connection.recv_bytes().partition(b"\n")
                fields: dict[str, Any] = json.loads(head)
                self.highest = fields.get("highest", self.highest)
                return fields, samples
        except (EOFError, OSError):
            self._fail()
        return {}, b""

    def close(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._connection.close()
        process, self._process = self._process, None
        self._connection, self.highest = None, None
        if process is not None:
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _send(self, fields: dict[str, Any]) -> None:
        try:
            if self._connection is not None:
                self._connection.send_bytes(json.dumps(fields).encode())
        except OSError:
            self._fail()

    def _fail(self) -> None:
        """End the process; one that has ended for other settings may be started again at once."""
        process = self._process
        self.close()
        if process is None or process.returncode:
            self._retry_at = time.monotonic() + RETRY_S
