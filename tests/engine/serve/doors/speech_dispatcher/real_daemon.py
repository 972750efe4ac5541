"""The real speech-dispatcher with Rubato's module, and a client of it, for tests and benchmarks."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from engine.serve.doors.speech_dispatcher.installation import COMMAND, Installation
from tests.help.machine.virtual_audio import VirtualAudio
from tests.help.process.fresh_python import ROOT

PATIENCE_S: Final = 60.0
ENDS: Final = {"701": "begin", "702": "end", "703": "cancel", "704": "pause"}


class Client:
    """A client of the daemon, which is told of the beginning and the end of its messages."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        until = time.monotonic() + PATIENCE_S
        while True:
            with suppress(OSError):
                self._socket.connect(str(path))
                break
            assert time.monotonic() < until, "the daemon does not start"
            time.sleep(0.1)
        self._socket.settimeout(PATIENCE_S)
        self._lines = self._socket.makefile("r", encoding="utf-8", newline="\r\n")
        self.events: list[str] = []
        self.ask("SET SELF CLIENT_NAME me:trial:main")
        self.ask("SET SELF OUTPUT_MODULE rubato")
        for each in ("BEGIN", "END", "CANCEL", "PAUSE", "INDEX_MARKS"):
            self.ask(f"SET SELF NOTIFICATION {each} ON")

    def ask(self, line: str) -> list[str]:
        self._socket.sendall(line.encode() + b"\r\n")
        while (answer := self._answer())[-1][:3] in ("700", *ENDS, "705"):
            self._note(answer)
        assert answer[-1][0] == "2", answer
        return answer

    def speak(self, text: str) -> None:
        self.events.clear()
        self.ask("SPEAK")
        self.ask(f"{text}\r\n.")

    def until(self, *wanted: str) -> str:
        """Wait for an event of these."""
        while not (self.events and self.events[-1] in wanted):
            self._note(self._answer())
        return self.events[-1]

    def close(self) -> None:
        self._socket.close()
        self._lines.close()

    def _answer(self) -> list[str]:
        lines = [self._lines.readline().rstrip("\r\n")]
        while lines[-1][3:4] == "-":
            lines.append(self._lines.readline().rstrip("\r\n"))
        return lines

    def _note(self, answer: list[str]) -> None:
        self.events.append(ENDS.get(answer[-1][:3], answer[-1][4:]))


@contextmanager
def real_daemon(card: VirtualAudio) -> Iterator[Client]:
    """Install the module in $HOME, start the daemon with that sound card, and connect to it."""
    command = ["/usr/bin/env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "app"]
    Installation().install([*command, *COMMAND])
    path = card.folder / "daemon.sock"
    daemon = subprocess.Popen(
        ["speech-dispatcher", "-s", "-t", "0", "-S", str(path)],
        env={**os.environ, **card.env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        client = Client(path)
        yield client
        client.close()
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE_S)
