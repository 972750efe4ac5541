"""The module's side of the engine process: start it, ask for sentences, end it.

The process is a child of the module, of which the daemon runs one for a person. Its standard input
is one end of a pair of sockets, which no other program can reach. A message is an object of JSON,
and behind a line break the samples, if it has any.
"""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Final

COMMAND: Final = (
    *(sys.executable, "-P", "-m"),
    "engine.serve.doors.speech_dispatcher.voice_process",
)
RETRY_S: Final = 60.0  # after a process that ended by itself
END_S: Final = 2.0  # for a process to end by itself before it is killed
_BUFFER: Final = 32 << 10  # bytes of speech on their way: 0.7 s, so that little is made in vain


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
