"""The module behind the real speech-dispatcher (0.11 or newer), which plays into a virtual sound
card. Only where both are installed.
"""

import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from engine.serve.doors.speech_dispatcher.installation import COMMAND, Installation
from tests.help.machine.needed import need, own_card
from tests.help.process.fresh_python import ROOT

pytestmark = [pytest.mark.long, pytest.mark.device]
SENTENCE = "This is one sentence. And here comes another one, which is the last of them."
PATIENCE_S = 60.0
ENDS = {"701": "begin", "702": "end", "703": "cancel", "704": "pause"}


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


@pytest.fixture(params=["espeak", "auto"])
def client(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    need([] if shutil.which("speech-dispatcher") else ["speech-dispatcher"])
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "RUBATO_CONFIG", "RUBATO_DATA"):
        monkeypatch.setenv(name, str(tmp_path / name))
        (tmp_path / name).mkdir()
    settings = f'[speech]\nengine = "{request.param}"\n'
    (tmp_path / "RUBATO_CONFIG" / "settings.toml").write_text(settings)
    with own_card() as card:
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
            made = Client(path)
            yield made
            made.close()
        finally:
            daemon.terminate()
            daemon.wait(PATIENCE_S)


def test_a_client_of_the_daemon_is_served(client):
    assert any(line[4:] == "rubato" for line in client.ask("LIST OUTPUT_MODULES"))
    voices = client.ask("LIST SYNTHESIS_VOICES")
    assert any("German\tde" in line for line in voices)
    for _ in range(3):
        client.speak(SENTENCE)
        assert client.until("end", "cancel") == "end"
        assert "begin" in client.events
    for command in ("CHAR a", "KEY shift_a"):
        client.events.clear()
        client.ask(command)
        client.until("end")
    client.ask("SET SELF SSML_MODE ON")
    client.speak("<speak>One <mark name='here'/>two <mark name='there'/>three.</speak>")
    client.until("end")
    assert [each for each in client.events if each.startswith("INDEX")] == ["INDEX MARK"] * 2


def test_pauses_and_random_cancels_lose_no_message(client):
    client.speak(SENTENCE)
    client.until("begin")
    client.ask("PAUSE SELF")
    client.until("pause", "end")
    client.ask("RESUME SELF")
    chance = random.Random(58)
    for _ in range(100):
        client.speak(SENTENCE)
        time.sleep(chance.choice((0.0, 0.001, 0.02, 0.1)))
        client.ask("CANCEL SELF")
    client.speak("Still here.")
    assert client.until("end") == "end"
