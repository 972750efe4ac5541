"""Several engines behind one address, started and ended in order. Ray is a fake."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from engine.errors import InvalidInput
from engine.serve import server
from engine.serve.server import Address, Watcher, serve_cluster
from engine.settings import Settings


class Cluster(ModuleType):
    """Stands in for engine.serve.cluster.deployment."""

    def __init__(self) -> None:
        super().__init__("engine.serve.cluster.deployment")
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
