"""A thread that owns a model, and what coroutines have done on it.

Invariant: calls are done one by one in the order in which they came, so clients that have one call
going at a time take turns. A caller that is cancelled loses the answer; the call is done all the
same.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from engine.runtime.workers.worker import Worker

log = logging.getLogger(__name__)

T = TypeVar("T")
_STOP_S = 10.0  # for the call that is being done; the longest step of a voice takes far less


class ModelThread:
    """Started at once; stop() joins it."""

    def __init__(self, name: str) -> None:
        self._worker: Worker[Callable[[], None]] = Worker(
            name,
            handle=lambda job: job(),
            tick=lambda: None,
            report=lambda error: log.error("a call failed kind=%s", type(error).__name__),
        )
        self._worker.start()

    async def call(self, function: Callable[[], T], undo: Callable[[T], None] | None = None) -> T:
        """What `function` returns or raises, on the thread. `undo` gets what nobody takes any more
        because the caller was cancelled.
        """
        future: Future[T] = Future()
        self._worker.post(partial(_answer, future, function))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if undo is not None:
                self.post(partial(_undo, future, undo))
            raise

    def post(self, function: Callable[[], None]) -> None:
        """Have it done; nobody waits."""
        self._worker.post(function)

    def stop(self, last: Callable[[], None]) -> bool:
        """Do what was asked for, then `last`, and end; False when a call takes too long."""
        self._worker.post(last)
        return self._worker.stop(_STOP_S)


def _answer(future: Future[T], function: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(function())
    except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
        future.set_exception(error)


def _undo(future: Future[T], undo: Callable[[T], None]) -> None:
    if not future.cancelled() and future.exception() is None:
        undo(future.result())
