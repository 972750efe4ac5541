"""A named thread with one inbox (no other thread is created here), and the base class of all parts
with a thread.

Invariant: an exception in a message or a tick is reported and the thread continues; stop() joins. A
tick that keeps failing is retried ever more seldom. Only its own thread uses an actor's objects;
others post to it, or read a value that is replaced whole.
"""

import logging
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from engine.errors import EngineError
from engine.messages.events import Event, Failed
from engine.runtime.turn.facts import Fact

logger = logging.getLogger(__name__)

M = TypeVar("M")
Tell = Callable[[Fact | Event], None]  # reports to the conductor

RETRY_S = 0.05  # after a fault: soon enough to continue, long enough not to spin
SLOWEST_RETRY_S = 10.0


class _Quit:
    """The message that ends a worker."""


class Worker(Generic[M]):
    """Runs `handle(message)` for every posted message, then `tick()`, on its own thread.

    `tick` returns how many seconds to wait for the next message; None waits until one comes. All
    queued messages are handled before the next tick. `report` gets the errors of `handle` and
    `tick`.
    """

    def __init__(
        self,
        name: str,
        *,
        handle: Callable[[M], None],
        tick: Callable[[], float | None],
        report: Callable[[Exception], None],
    ) -> None:
        self._handle = handle
        self._tick = tick
        self._report = report
        self._inbox: queue.SimpleQueue[M | _Quit] = queue.SimpleQueue()
        self._faults = 0  # since the last good tick
        self._thread = threading.Thread(target=self._run, name=name, daemon=False)

    def start(self) -> None:
        self._thread.start()

    def post(self, message: M) -> None:
        """Queue a message; never waits, from any thread."""
        self._inbox.put(message)

    def stop(self, timeout_s: float) -> bool:
        """Ask the thread to end and join it; False if it is still busy after `timeout_s`."""
        self._inbox.put(_Quit())
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def guarded(self, action: Callable[[], float | None]) -> float | None:
        """Run an action on the calling thread; report its error like that of a message."""
        try:
            return action()
        except Exception as error:  # the thread's top: report and continue
            if not isinstance(error, EngineError):  # those are shown to the user as they are
                logger.exception("worker failed name=%s", self._thread.name)
            self._report(error)
            self._faults += 1
            return min(SLOWEST_RETRY_S, RETRY_S * float(2 ** min(self._faults - 1, 10)))

    def _run(self) -> None:
        wait_s: float | None = 0.0
        while True:
            message = self._take(wait_s)
            while message is not None:
                if isinstance(message, _Quit):
                    return
                self.guarded(partial(self._handle, message))
                message = self._take(0.0)
            wait_s = self.guarded(self._tick_well)

    def _tick_well(self) -> float | None:
        wait_s = self._tick()
        self._faults = 0
        return wait_s

    def _take(self, wait_s: float | None) -> M | _Quit | None:
        try:
            return self._inbox.get(timeout=wait_s) if wait_s else self._inbox.get(wait_s is None)
        except queue.Empty:
            return None


class Actor(ABC, Generic[M]):
    """A worker that reports what it finds. A subclass handles messages (`_handle`); it may also
    convert unknown errors (`_unknown`), work after the messages (`_tick`, see Worker), release its
    objects at the end (`_release`) and report faults differently (`_fail`).
    """

    def __init__(self, name: str, tell: Tell) -> None:
        self._tell = tell
        self._worker: Worker[M] = Worker(
            name, handle=self._handle, tick=self._tick, report=self._report
        )

    def start(self) -> None:
        self._worker.start()

    def post(self, message: M) -> None:
        """Queue a message; never waits, from any thread."""
        self._worker.post(message)

    def stop(self, timeout_s: float) -> bool:
        """End the thread and release its objects; False if it is still busy after `timeout_s`, and
        then nothing is released.
        """
        ended = self._worker.stop(timeout_s)
        if ended:
            self._release()
        return ended

    @abstractmethod
    def _handle(self, message: M) -> None: ...

    def _tick(self) -> float | None:
        return None

    def _release(self) -> None:
        """Nothing to release."""

    def _report(self, error: Exception) -> None:
        self._fail(error if isinstance(error, EngineError) else self._unknown(error))

    def _unknown(self, error: Exception) -> EngineError:
        return EngineError("Something went wrong: {error}", hint="Please report this.", error=error)

    def _fail(self, error: EngineError) -> None:
        self._tell(Failed.of(error))
