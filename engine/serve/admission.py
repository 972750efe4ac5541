"""Places for as many utterances as the machine can speak at once, and a queue for a few more.

Invariant: first come, first served. Whoever finds the queue full is told so at once. While somebody
waits, an utterance that has fallen far behind its own sound (a client that neither reads nor
writes) gives its place up.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from engine.errors import Busy
from engine.serve.limits import Limits

LOOK_S: Final = 1.0  # how often those who wait look for a place that is not used


class Admission:
    """`give_way` is called now and then while somebody waits."""

    def __init__(self, limits: Limits, give_way: Callable[[], None]) -> None:
        self._limits = limits
        self._give_way = give_way
        self._free = asyncio.Semaphore(limits.slots)
        self.waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place and keep it. Busy when the queue is full, or moves too slowly."""
        if self._free.locked() and self.waiting >= self._limits.queue:
            raise self._busy()
        await self._wait()
        try:
            yield
        finally:
            self._free.release()

    async def _wait(self) -> None:
        turn = asyncio.ensure_future(self._free.acquire())
        self.waiting += 1
        try:
            async with asyncio.timeout(self._limits.idle_s):
                while not turn.done():
                    await asyncio.wait([turn], timeout=LOOK_S)
                    if not turn.done():
                        self._give_way()
        except (TimeoutError, asyncio.CancelledError) as error:
            if not turn.cancel():  # it came at the last moment
                self._free.release()
            if isinstance(error, TimeoutError):
                raise self._busy() from error
            raise
        finally:
            self.waiting -= 1

    def _busy(self) -> Busy:
        return Busy(
            "All {count} places are taken.",
            hint="Try again in {seconds} seconds.",
            count=self._limits.slots,
            seconds=self._limits.retry_s,
        )
