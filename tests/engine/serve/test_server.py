"""One engine behind an address, or several, started and ended in order. Ray is a fake."""

import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from engine.errors import InvalidInput, ModelError
from engine.serve import server
from engine.serve.address import HERE, Address, listen
from engine.serve.server import Watcher, serve, serve_cluster
from engine.settings import ServeSettings, Settings
from tests.help.fakes.parts import FakeParts
from tests.help.fakes.tts import FakeTts


class Cluster(ModuleType):
    """Stands in for engine.serve.deployment."""

    def __init__(self) -> None:
        super().__init__("engine.serve.deployment")
        self.fault: Exception | None = None
        self.done: list[str] = []

    def Plan(self, *given: object) -> None:  # noqa: N802 - a class there
        """What is deployed makes no difference."""

    def start(self, *given: object) -> None:
        self.done.append("start")
        if self.fault is not None:
            raise self.fault

    def stop(self) -> None:
        self.done.append("stop")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cluster]:
    fake, signals = Cluster(), list[int]()
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    monkeypatch.setattr(server, "check_installed", lambda *given: None)
    before = signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))
    yield fake
    signal.signal(signal.SIGTERM, before)
    assert not signals


def end_by_signal(address: str, token: str) -> None:
    signal.raise_signal(signal.SIGTERM)


def end_by_exit(address: str, token: str) -> None:
    raise SystemExit


def go_on(address: str, token: str) -> None:
    """Nothing ends it."""


@pytest.mark.parametrize("started", [end_by_signal, end_by_exit, go_on])
def test_a_cluster_is_stopped_however_it_ends(cluster: Cluster, started: object) -> None:
    watcher = Watcher(started, wanted=lambda: False)  # type: ignore[arg-type]
    serve_cluster(Settings(), Address(), 2, watcher)
    assert cluster.done == ["start", "stop"]


def test_a_cluster_that_does_not_start_is_stopped(cluster: Cluster) -> None:
    cluster.fault = RuntimeError("no room")
    with pytest.raises(RuntimeError, match="no room"):
        serve_cluster(Settings(), Address(), 2, Watcher(go_on))
    assert cluster.done == ["start", "stop"]


def test_a_cluster_refuses_home_assistant_instead_of_leaving_it_out(cluster: Cluster) -> None:
    with pytest.raises(InvalidInput, match="--wyoming"):
        serve_cluster(Settings(), Address(wyoming=10_700), 2, Watcher(go_on))
    assert not cluster.done


Serve = Callable[..., list[str]]


@pytest.fixture
def serve_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> Serve:
    """serve_once(ahead, fault): what was loaded by the end of a server that nobody asks anything.
    With `ahead` it serves until its log tells of the recogniser.
    """
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    caplog.set_level(logging.INFO)

    def run(*, ahead: bool, fault: Exception | None = None) -> list[str]:
        parts, loaded = FakeParts(), list[str]()
        own = parts.factories()

        def recogniser(*given: object) -> object:
            loaded.append("recogniser")
            if fault is not None:
                raise fault
            return parts.recogniser

        factories = replace(
            own, synthesiser=lambda settings, progress: FakeTts(), recogniser=recogniser
        )
        monkeypatch.setattr(server, "standard_factories", lambda: factories)
        watcher = Watcher(go_on, wanted=lambda: ahead and "recogniser is" not in caplog.text)
        serve(Settings(), Address(port=0), watcher, ahead=ahead)
        return loaded

    return run


def test_the_recogniser_is_loaded_before_somebody_asks_if_that_is_wanted(serve_once: Serve) -> None:
    assert serve_once(ahead=True) == ["recogniser"]
    assert serve_once(ahead=False) == []


def test_a_recogniser_that_does_not_load_leaves_the_server_up_and_is_told(
    serve_once: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    assert serve_once(ahead=True, fault=ModelError("It has no ears.")) == ["recogniser"]
    assert "It has no ears." in caplog.text


def test_a_connection_sends_at_once_and_finds_out_when_the_other_machine_has_gone() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_a_server_is_known_by_its_own_names_and_those_of_the_settings() -> None:
    settings = replace(Settings(), serve=ServeSettings(names="Host.docker.internal, box.example"))
    more = {"host.docker.internal", "box.example"}
    assert Address().names(settings) == HERE | more
    assert Address("0.0.0.0").names(settings) >= HERE | more | {"0.0.0.0"}
    assert Address().names(Settings()) == HERE
