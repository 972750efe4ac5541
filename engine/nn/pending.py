"""Results that are still pending, perhaps computed in parallel with the caller.

ONNX Runtime's own worker computes them; this file creates no thread.
Invariant: what a computation reads stays alive until it is over; its error is raised in `wait()`.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import onnxruntime

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Pending(Generic[T]):
    """`wait()`, called once, returns the result. A caller that no longer wants it calls `settle()`
    instead, which returns once the computation is over. `done()`: whether neither would wait for
    another thread. By default nobody else computes it.
    """

    wait: Callable[[], T]
    settle: Callable[[], None] = lambda: None
    done: Callable[[], bool] = lambda: True

    def then(self, change: Callable[[T], U]) -> "Pending[U]":
        """The result passed through a function, which runs on the waiting thread."""
        return Pending(lambda: change(self.wait()), self.settle, self.done)


def beside(
    session: onnxruntime.InferenceSession, outputs: list[str], feeds: dict[str, Any]
) -> Pending[list[Any]]:
    """Run a graph on a worker of its session's thread pool, which must have at least two
    threads."""
    run = _Run(feeds)
    session.run_async(outputs, feeds, run.end, None)
    return Pending(run.wait, run.settle, run.done)


class _Run:
    """One run on ONNX Runtime's worker, which calls `end`."""

    def __init__(self, feeds: dict[str, Any]) -> None:
        self._feeds = feeds  # the worker reads these arrays in place
        self._over = threading.Event()
        self._outputs: list[Any] = []
        self._fault = ""

    def end(self, outputs: list[Any], _: object, fault: str) -> None:
        """Called by the worker when it is done."""
        self._outputs, self._fault = outputs, fault
        self._over.set()

    def wait(self) -> list[Any]:
        self._over.wait()
        if self._fault:
            raise RuntimeError(self._fault)
        return self._outputs

    def settle(self) -> None:
        self._over.wait()

    def done(self) -> bool:
        return self._over.is_set()
