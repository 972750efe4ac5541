"""A server's token, its address, and how many it speaks for at once."""

import socket
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from engine.serve.server import TOKEN_FILE, listen, own_limits, own_token
from engine.settings import Settings, SpeechSettings
from engine.tts import speeds


def test_a_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    made = own_token(tmp_path)
    assert len(made) >= 32
    path = tmp_path / TOKEN_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert own_token(tmp_path) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_connection_sends_at_once_and_finds_out_when_the_other_machine_has_gone() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_places_are_as_measured_unless_the_person_set_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    settings = Settings(speech=SpeechSettings(engine="starter"))
    assert own_limits(settings).slots == speeds.UNMEASURED
    speeds.keep({"starter": 0.15}, tmp_path)
    assert own_limits(settings).slots == 4
    chosen = replace(settings, serve=replace(settings.serve, places=3))
    assert own_limits(chosen).slots == 3
