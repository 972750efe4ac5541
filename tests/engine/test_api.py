"""What the engine promises a host: who tells it things, how it ends, and what else there is."""

import threading
from collections.abc import Iterator

import pytest

from engine import api
from engine.errors import EngineError
from engine.runtime import conductor, threads
from engine.settings import AudioSettings
from tests.faults.whole import PATIENCE_S, Whole
from tests.help.fakes.parts import FakeParts

SETTINGS = api.Settings(audio=AudioSettings(hands_free=False))


class Host(Whole):
    """An engine on fakes, and the threads that told of its events."""

    def __init__(self, parts: FakeParts | None = None) -> None:
        self.tellers: set[threading.Thread] = set()
        super().__init__(SETTINGS, (parts or FakeParts()).factories())

    def _keep(self, event: api.Event) -> None:
        self.tellers.add(threading.current_thread())
        super()._keep(event)


def test_every_event_comes_from_one_engine_thread_and_stopped_is_the_last():
    host, before = Host(), set(threading.enumerate())
    host.engine.start()
    host.post(api.SendText("hello"))
    host.wait(lambda: host.of(api.ReplyDelta))
    host.engine.stop()
    (teller,) = host.tellers
    assert teller is not threading.current_thread()
    assert len(host.of(api.TurnEnded)) == 1
    assert host.events[-1] == api.Stopped()
    assert set(threading.enumerate()) <= before
    told = len(host.events)
    host.post(api.SendText("anyone there"))
    host.engine.stop()
    assert len(host.events) == told


def test_what_is_asked_for_after_stop_is_not_begun():
    host = Host()
    host.engine.start()
    posted = threading.Thread(target=lambda: [host.post(api.SendText("hello")) for _ in range(50)])
    posted.start()
    host.engine.stop()
    posted.join()
    begun = {event.turn for event in host.of(api.PhaseChanged)}
    assert begun == {event.turn for event in host.of(api.TurnEnded)}
    assert host.events[-1] == api.Stopped()


def test_a_thread_that_a_library_holds_fast_is_named(monkeypatch):
    monkeypatch.setattr(threads, "STOP_S", 0.05)
    held, gate = threading.Event(), threading.Event()

    def thinking() -> Iterator[str]:
        held.set()
        assert gate.wait(PATIENCE_S)
        yield from ()

    parts = FakeParts()
    parts.model.reply = lambda history, state: thinking()  # type: ignore[method-assign]
    host = Host(parts)
    host.engine.start()
    host.post(api.SendText("hello"))
    assert held.wait(PATIENCE_S)
    host.engine.stop()
    gate.set()
    busy = api.Notice("Still busy when stopping: language model.")
    assert host.events[-2:] == [busy, api.Stopped()]


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
    with pytest.raises(EngineError, match="still reporting events"):
        engine.stop()
    gate.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
    assert told[-1] == api.Stopped()


def test_an_engine_never_started_can_be_stopped_and_what_is_imported_later_is_there():
    host, before = Host(), set(threading.enumerate())
    host.engine.stop()
    assert host.events == [api.Stopped()]
    assert set(threading.enumerate()) <= before
    assert all(getattr(api, name) is not None for name in api._later())
