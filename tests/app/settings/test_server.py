"""The rows for other programs: the server beside the window, switched on and off, and the module of
the screen reader.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from app.settings.server import ScreenReaderRow, Server, ServerRow
from engine.api import Settings
from engine.serve.doors.speech_dispatcher import installation

# A `rubato serve --json --port=N --places=N --names=X` that serves for ever, or cannot.
SERVES = """
import json, sys, time
assert sys.argv[1:3] == ["serve", "--json"], sys.argv
port, places, names = (each.partition("=")[2] for each in sys.argv[3:6])
port += ("!" if "--network" in sys.argv else "") + f"?{places}{names}"
print(json.dumps({"address": "http://127.0.0.1:" + port, "token": "secret"}), file=sys.stderr)
print(json.dumps({"clients": {"127.0.0.1": 2}}), file=sys.stderr, flush=True)
time.sleep(600)
"""
REFUSED = """
print('{"texts": ["The address is taken.", "Choose another one."]}')
raise SystemExit(1)
"""
Make = Callable[..., Server]


@pytest.fixture
def make(window, rubato) -> Iterator[Make]:
    made: list[Server] = []

    def make(script: str, *, on: bool = True) -> Server:
        settings = Settings()
        settings = replace(settings, serve=replace(settings.serve, on=on))
        rubato(script)
        made.append(Server(settings, window))
        return made[-1]

    yield make
    for each in made:
        each.end()


def test_it_serves_tells_who_is_connected_and_copies_the_token_without_showing_it(
    qtbot, make, window
):
    server = make(SERVES)
    row = ServerRow(server, window)
    assert row.copy.isHidden()
    server.begin()
    assert "starts" in server.state
    qtbot.waitUntil(lambda: bool(server.clients), timeout=20_000)
    assert "http://127.0.0.1:8790?0/v1" in server.state
    assert "Connected: 127.0.0.1." in server.state
    assert not row.copy.isHidden()
    assert "secret" not in row.words.text()
    row.copy.click()
    assert QGuiApplication.clipboard().text() == "secret"


def test_a_change_of_the_settings_is_a_new_server(qtbot, make):
    server = make(SERVES, on=False)
    server.choose("serve.on", True)
    qtbot.waitUntil(lambda: bool(server.clients), timeout=20_000)
    server.choose("serve.network", True)
    qtbot.waitUntil(lambda: server.address.endswith("8790!?0"), timeout=20_000)
    server.choose("serve.places", 3)
    qtbot.waitUntil(lambda: server.address.endswith("8790!?3"), timeout=20_000)
    server.choose("serve.names", "box")
    qtbot.waitUntil(lambda: server.address.endswith("8790!?3box"), timeout=20_000)
    server.choose("serve.on", False)
    assert server.state == ""
    assert not server.token


def test_why_it_cannot_serve_is_shown(qtbot, make):
    server = make(REFUSED)
    server.begin()
    qtbot.waitUntil(lambda: bool(server.fault), timeout=20_000)
    assert server.state == "The address is taken. Choose another one."


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(installation, "_SYSTEM", tmp_path / "none")
    monkeypatch.setattr(installation.shutil, "which", lambda name: f"/usr/bin/{name}")
    return tmp_path / ".local/libexec/speech-dispatcher-modules/sd_rubato"


def test_the_button_adds_the_voice_and_then_removes_it(module, window):
    row = ScreenReaderRow(window)
    assert "can speak with these voices" in row.words.text()
    row.change.click()
    assert module.is_file()
    assert "rubato" in row.words.text()
    assert "Remove" in row.change.text()
    row.change.click()
    assert not module.exists()
    assert "Add" in row.change.text()


def test_a_failure_is_shown(module, window, monkeypatch):
    monkeypatch.setattr(installation.shutil, "which", lambda name: None)
    row = ScreenReaderRow(window)
    row.change.click()
    assert "is not installed" in row.words.text()
    assert "apt install" in row.words.text()
