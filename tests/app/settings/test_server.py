"""The server beside the window: switched on and off, and what the page of settings shows of it."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtGui import QGuiApplication

from app.settings.server import Server, ServerRow
from engine.api import Settings

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
def make(window) -> Iterator[Make]:
    made: list[Server] = []

    def make(script: str, *, on: bool = True) -> Server:
        settings = Settings()
        settings = replace(settings, serve=replace(settings.serve, on=on))
        made.append(Server(settings, window, [sys.executable, "-c", script]))
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
