"""What the engine promises a host: who tells it things, how it ends, and what else there is."""

import threading
from collections.abc import Iterator

import pytest

from engine import api
from engine.errors import EngineError
from engine.runtime import conductor, threads
from engine.settings import AudioSettings
from tests.fakes import FakeParts

PATIENCE_S = 60.0  # a loaded machine is slow; a passing test hardly waits
SETTINGS = api.Settings(audio=AudioSettings(hands_free=False))


class Host:
    """Notes every event and the thread that told it."""

    def __init__(self) -> None:
        self.told: list[tuple[api.Event, threading.Thread]] = []
        self.changed = threading.Condition()
        self.inside = 0  # calls of receive() going on
        self.most_inside = 0

    def receive(self, event: api.Event) -> None:
        with self.changed:
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
        with self.changed:
            self.told.append((event, threading.current_thread()))
            self.inside -= 1
            self.changed.notify_all()

    @property
    def events(self) -> list[api.Event]:
        return [event for event, _ in self.told]

    def wait_for(self, kind: type[api.Event]) -> None:
        with self.changed:
            came = lambda: any(isinstance(event, kind) for event in self.events)  # noqa: E731
            assert self.changed.wait_for(came, PATIENCE_S), self.events


def test_every_event_comes_from_one_engine_thread_and_stopped_is_the_last():
    host, before = Host(), set(threading.enumerate())
    engine = api.Engine(SETTINGS, host.receive, factories=FakeParts().factories())
    engine.start()
    engine.post(api.SendText("hello"))
    host.wait_for(api.ReplyDelta)
    engine.stop()
    assert len({thread for _, thread in host.told}) == 1
    assert host.told[0][1] is not threading.current_thread()
    assert host.most_inside == 1
    assert sum(isinstance(event, api.TurnEnded) for event in host.events) == 1
    assert host.events[-1] == api.Stopped()
    assert set(threading.enumerate()) <= before
    told = len(host.told)
    engine.post(api.SendText("anyone there"))
    engine.stop()
    assert len(host.told) == told


def test_what_is_asked_for_after_stop_is_not_begun():
    host = Host()
    engine = api.Engine(SETTINGS, host.receive, factories=FakeParts().factories())
    engine.start()
    posted = threading.Thread(
        target=lambda: [engine.post(api.SendText("hello")) for _ in range(50)]
    )
    posted.start()
    engine.stop()
    posted.join()
    begun = {event.turn for event in host.events if isinstance(event, api.PhaseChanged)}
    ended = {event.turn for event in host.events if isinstance(event, api.TurnEnded)}
    assert begun == ended
    assert host.events[-1] == api.Stopped()


def test_a_thread_that_a_library_holds_fast_is_named(monkeypatch):
    monkeypatch.setattr(threads, "STOP_S", 0.05)
    held, gate = threading.Event(), threading.Event()

    def thinking() -> Iterator[str]:
        held.set()
        assert gate.wait(PATIENCE_S)
        yield from ()

    parts = FakeParts()
    parts.model.reply = lambda history, situation: thinking()  # type: ignore[method-assign]
    host = Host()
    engine = api.Engine(SETTINGS, host.receive, factories=parts.factories())
    engine.start()
    engine.post(api.SendText("hello"))
    assert held.wait(PATIENCE_S)
    engine.stop()
    gate.set()
    assert host.events[-2:] == [
        api.Notice("Still busy when stopping: language model."),
        api.Stopped(),
    ]


def test_a_host_that_never_takes_an_event_is_told_so(monkeypatch):
    monkeypatch.setattr(threads, "STOP_S", 0.05)
    monkeypatch.setattr(conductor, "STOP_S", 0.05)
    held, gate, told = threading.Event(), threading.Event(), []

    def receive(event: api.Event) -> None:
        held.set()
        assert gate.wait(PATIENCE_S)
        told.append(event)

    before = set(threading.enumerate())
    engine = api.Engine(SETTINGS, receive, factories=FakeParts().factories())
    engine.start()
    assert held.wait(PATIENCE_S)
    with pytest.raises(EngineError, match="still busy"):
        engine.stop()
    gate.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
    assert told[-1] == api.Stopped()


def test_an_engine_never_started_can_be_stopped_and_what_is_imported_later_is_there():
    host, before = Host(), set(threading.enumerate())
    api.Engine(SETTINGS, host.receive, factories=FakeParts().factories()).stop()
    assert host.events == [api.Stopped()]
    assert set(threading.enumerate()) <= before
    assert all(getattr(api, name) is not None for name in api._later())
