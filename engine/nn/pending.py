"""Results that are still to come, perhaps computed beside the caller.

ONNX Runtime's own worker computes them: no thread is made here.
Invariant: what a computation reads stays alive until it is over; its error is raised in `wait()`.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import onnxruntime

T = TypeVar("T")
U = TypeVar("U")


def _nothing() -> None:
    """Nobody computes: there is nothing to wait for."""


@dataclass(frozen=True)
class Pending(Generic[T]):
    """`wait()`, called once, gives the result. Who does not want it calls `settle()` instead, which
    returns once nobody computes it any more.
    """

    wait: Callable[[], T]
    settle: Callable[[], None] = _nothing

    def then(self, change: Callable[[T], U]) -> "Pending[U]":
        """The result changed by a function that the waiting thread runs."""
        return Pending(lambda: change(self.wait()), self.settle)


def beside(
    session: onnxruntime.InferenceSession, outputs: list[str], feeds: dict[str, Any]
) -> Pending[list[Any]]:
    """Run a graph on a worker of its own pool, which must have at least two threads."""
    run = _Run(feeds)
    session.run_async(outputs, feeds, run.end, None)
    return Pending(run.wait, run.settle)


class _Run:
    """One run on ONNX Runtime's worker, which calls `end`."""

    def __init__(self, feeds: dict[str, Any]) -> None:
        self._feeds = feeds  # the worker reads these arrays where they lie
        self._over = threading.Event()
        self._outputs: list[Any] = []
        self._fault = ""

    def end(self, outputs: list[Any], _: object, fault: str) -> None:
        """The worker's last act."""
        self._outputs, self._fault = outputs, fault
        self._over.set()

    def wait(self) -> list[Any]:
        self._over.wait()
        if self._fault:
            raise RuntimeError(self._fault)
        return self._outputs

    def settle(self) -> None:
        self._over.wait()
