"""A runtime folder of our own, short enough for a socket's path."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.presence.bus import Bus
from app.presence.command_handler import CommandHandler
from app.window import Window
from tests.help.machine import private_bus


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What XDG_RUNTIME_DIR and TMPDIR name in this test and its child processes."""
    with tempfile.TemporaryDirectory(prefix="rubato-test") as name:
        folder = Path(name, "runtime")
        folder.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.delenv("RUBATO_DATA", raising=False)
        yield folder


@pytest.fixture
def bus_address(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bus of the test's own, which the program takes for the person's."""
    assert not private_bus.is_missing(), "the tests need dbus-daemon (make test installs it)"
    with private_bus.private_bus(runtime) as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield address


@pytest.fixture
def bus(qapp, bus_address: str) -> Iterator[Bus]:
    made = Bus()
    assert made.connect_to_session()
    yield made
    made.close()


@pytest.fixture
def handler(window: Window) -> CommandHandler:
    """What is asked of the window from outside goes through it."""
    made = CommandHandler()
    made.serve(window)
    return made
