"""Wait for the network without a thread, in a way that can be stopped at any moment.

Invariant: the event loop runs only inside steps(), a slice at a time; between slices the caller has
control and may close the generator, which cancels the awaited work.
"""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import suppress
from typing import Any, TypeVar

SLICE_S = 0.05  # the longest delay until a cancellation is noticed
CLOSING_S = 1.0  # for closing a connection; afterwards it is dropped

T = TypeVar("T")


class Steps:
    """An event loop that advances while its caller iterates. Used from one thread at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def steps(self, work: Coroutine[Any, Any, T], limit_s: float) -> Generator[str, None, T]:
        """Await the work, yielding "" after each slice of time; return its result. Raises
        TimeoutError after the limit, and the exceptions of the work.
        """
        if limit_s <= 0:
            work.close()
            raise TimeoutError
        task = self._loop.create_task(work)
        deadline = self._loop.time() + limit_s
        try:
            while True:
                self._loop.run_until_complete(asyncio.wait({task}, timeout=SLICE_S))
                if task.done():
                    return task.result()
                if self._loop.time() >= deadline:
                    raise TimeoutError
                yield ""
        finally:
            if not task.done():
                task.cancel()
                self._loop.run_until_complete(asyncio.gather(task, return_exceptions=True))

    def finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Await the closing of a connection, for CLOSING_S at most."""
        with suppress(TimeoutError):
            self._loop.run_until_complete(_limited(work))

    def close(self) -> None:
        """Close the loop; also joins the thread that asyncio may have used to look up a host
        name.
        """
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


async def _limited(work: Coroutine[Any, Any, None]) -> None:
    async with asyncio.timeout(CLOSING_S):
        await work
