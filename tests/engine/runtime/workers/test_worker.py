"""A thread with an inbox, and what actors have in common."""

import threading
from collections.abc import Callable

import pytest

from engine.errors import DeviceError, EngineError
from engine.messages.events import Event, Failed
from engine.runtime.turn.facts import Fact
from engine.runtime.workers import worker as module
from engine.runtime.workers.worker import Actor, Worker
from tests.engine.runtime.by_hand import HandWorker


def nothing() -> None:
    """No tick is wanted."""


def made(
    handle: Callable[[int], object] = lambda number: None,
    tick: Callable[[], float | None] = nothing,
    report: Callable[[Exception], None] = lambda error: None,
) -> Worker[int]:
    return Worker("the worker", handle=handle, tick=tick, report=report)


def test_messages_are_handled_in_order_on_a_thread_of_its_name_and_faults_reported() -> None:
    seen: list[tuple[float, str]] = []
    faults: list[Exception] = []
    worker = made(
        lambda number: seen.append((100 / number, threading.current_thread().name)),
        report=faults.append,
    )
    worker.start()
    for number in (5, 0, 4):
        worker.post(number)
    assert worker.stop(5.0)
    assert seen == [(20, "the worker"), (25, "the worker")]
    assert [type(fault) for fault in faults] == [ZeroDivisionError]


def test_stop_says_when_the_thread_is_still_busy() -> None:
    release = threading.Event()
    worker = made(lambda number: release.wait(5.0))
    worker.start()
    worker.post(1)
    assert not worker.stop(0.01)
    release.set()
    assert worker.stop(5.0)


def test_a_tick_that_fails_again_and_again_is_tried_ever_more_seldom() -> None:
    broken = True

    def tick() -> None:
        if broken:
            raise ZeroDivisionError

    worker = made(tick=tick)
    waits = [worker.guarded(worker._tick_well) for _ in range(20)]
    assert waits[:3] == [0.05, 0.1, 0.2]
    assert waits[-1] == 10.0
    broken = False
    worker.guarded(worker._tick_well)
    broken = True
    assert worker.guarded(worker._tick_well) == 0.05


class Fussy(Actor[Exception]):
    """Raises what it is given, and notes that it let go of what it had."""

    released = False

    def _handle(self, message: Exception) -> None:
        raise message

    def _unknown(self, error: Exception) -> EngineError:
        return DeviceError("The fake failed: {error}", hint="Do without it.", error=error)

    def _release(self) -> None:
        self.released = True


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (EngineError("Nothing works.", hint="Rest."), Failed("engine", "Nothing works.", "Rest.")),
        (KeyError("x"), Failed("device", "The fake failed: 'x'", "Do without it.")),
    ],
)
def test_a_fault_is_told_as_it_is_or_in_the_words_of_the_actor_it_broke(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: Failed
) -> None:
    monkeypatch.setattr(module, "Worker", HandWorker)
    heard: list[Fact | Event] = []
    fussy = Fussy("fussy", heard.append)
    fussy.post(error)
    fussy._worker.run()
    assert heard == [told]


@pytest.mark.parametrize("ends", [True, False])
def test_what_it_owns_is_released_only_once_its_thread_has_ended(
    monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    monkeypatch.setattr(module, "Worker", HandWorker)
    monkeypatch.setattr(HandWorker, "stop", lambda self, timeout_s: ends, raising=False)
    fussy = Fussy("fussy", lambda told: None)
    assert fussy.stop(1.0) is ends
    assert fussy.released is ends
