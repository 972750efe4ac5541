"""What every part of the engine with a thread of its own has in common: an inbox, an end, and how a
fault is told.

Invariant: only its own thread touches what an actor owns; others post to it, or read a value that
is replaced whole.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from engine.errors import EngineError
from engine.messages.events import Event, Failed
from engine.runtime.turn.facts import Fact
from engine.runtime.workers.worker import Worker

M = TypeVar("M")


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
