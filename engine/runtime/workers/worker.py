"""A named thread with one inbox, the only way a thread is made here; and what every part of the
engine with a thread of its own has in common.

Invariant: an exception in a message or a tick is reported and the thread lives on; stop() joins. A
tick that fails again and again is tried ever more seldom. Only its own thread touches what an actor
owns; others post to it, or read a value that is replaced whole.
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

RETRY_S = 0.05  # after a fault: soon enough to go on, long enough not to spin
SLOWEST_RETRY_S = 10.0


class _Quit:
    """The message that ends a worker."""


class Worker(Generic[M]):
    """Runs `handle(message)` for everything posted, then `tick()`, on a thread of its own.

    `tick` returns how long to wait for the next message in seconds; None waits until one comes. All
    messages that are already there are handled before the next tick. `report` receives whatever
    `handle` or `tick` raised.
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
        self._faults = 0  # since a tick went well
        self._thread = threading.Thread(target=self._run, name=name, daemon=False)

    def start(self) -> None:
        self._thread.start()

    def post(self, message: M) -> None:
        """Queue a message; never waits, from any thread."""
        self._inbox.put(message)

    def stop(self, timeout_s: float) -> bool:
        """Ask the thread to end and join it; False when it is still busy after `timeout_s`."""
        self._inbox.put(_Quit())
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def guarded(self, action: Callable[[], float | None]) -> float | None:
        """Do this on the calling thread; what it raises is reported as a message's fault is."""
        try:
            return action()
        except Exception as error:  # the thread's top: report and live on
            if not isinstance(error, EngineError):  # those are told to the person as they are
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
    """A worker that tells what it finds. A subclass says how it handles one message (`_handle`),
    what an unknown error means here (`_unknown`) and, where there is more to it, what follows the
    messages (`_tick`, see Worker), what it lets go of at its end (`_release`) and how a fault is
    told (`_fail`).
    """

    def __init__(self, name: str, tell: Callable[[Fact | Event], None]) -> None:
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
        """End the thread and release what it owned; False when it is still busy after `timeout_s`,
        and then nothing is released.
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
        """Nothing to let go of."""

    def _report(self, error: Exception) -> None:
        self._fail(error if isinstance(error, EngineError) else self._unknown(error))

    @abstractmethod
    def _unknown(self, error: Exception) -> EngineError: ...

    def _fail(self, error: EngineError) -> None:
        self._tell(Failed.of(error))
