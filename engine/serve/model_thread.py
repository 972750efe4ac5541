"""A thread that owns a model, and what coroutines have done with it.

Invariant: the first call loads the model. Calls are done one by one in the order in which they
came, so clients that have one call going at a time take turns. A caller that is cancelled loses the
answer; the call is done all the same.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future
from functools import partial
from typing import Generic, Protocol, TypeVar

from engine.runtime.workers.worker import Worker

log = logging.getLogger(__name__)

_STOP_S = 10.0  # for the call that is being done; the longest step of a voice takes far less


class Closable(Protocol):
    """What can be released."""

    def close(self) -> None: ...


M = TypeVar("M", bound=Closable)
T = TypeVar("T")


class ModelThread(Generic[M]):
    """Started at once; stop() releases the model and joins it."""

    def __init__(self, name: str, load: Callable[[], M]) -> None:
        self._load = load
        self._model: M | None = None  # None = not loaded yet
        self._worker: Worker[Callable[[], None]] = Worker(
            name,
            handle=lambda job: job(),
            tick=lambda: None,
            report=lambda error: log.error("a call failed kind=%s", type(error).__name__),
        )
        self._worker.start()

    async def call(self, function: Callable[[M], T], undo: Callable[[T], None] | None = None) -> T:
        """The return value of `function`, or its error. `undo` gets the value when the caller was
        cancelled meanwhile.
        """
        future: Future[T] = Future()
        self.post(partial(self._answer, future, function))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if undo is not None:
                self.post(partial(_undo, future, undo))
            raise

    async def each(self, begin: Callable[[M], Generator[T, None, None]]) -> AsyncGenerator[T, None]:
        """The values of a generator, one call for each; it is closed with this one."""
        values = await self.call(begin)
        try:
            while (value := await self.call(lambda model: next(values, None))) is not None:
                yield value
        finally:
            self.post(values.close)

    def post(self, job: Callable[[], None]) -> None:
        """Have it done; nobody waits."""
        self._worker.post(job)

    def stop(self) -> bool:
        """Do what was asked for and end; False when a call takes too long."""
        self.post(self._release)
        return self._worker.stop(_STOP_S)

    def _answer(self, future: Future[T], function: Callable[[M], T]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            if self._model is None:
                self._model = self._load()
            future.set_result(function(self._model))
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            future.set_exception(error)

    def _release(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None


def _undo(future: Future[T], undo: Callable[[T], None]) -> None:
    if not future.cancelled() and future.exception() is None:
        undo(future.result())
