"""What one server gives, and how much of it a client may take.

Invariant: everything that a client can send, hold or wait for has a bound here. Places are given
first come, first served.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from engine.errors import Busy

SAMPLE_RATE: Final = 24_000  # Hz of all speech that leaves a server
LEAD_MS: Final = 240  # as in the window: so late a new rate is heard, at most
LOOK_S: Final = 1.0  # how often those who wait look for a place that is not used


@dataclass(frozen=True)
class Limits:
    """`slots`: utterances that are spoken at once; more wait, up to `queue`. Texts in characters,
    times in seconds, `body_bytes` of a request, `message_bytes` of one WebSocket message.
    """

    slots: int = 2
    queue: int = 8
    text: int = 4_096  # of one request, as OpenAI's
    streamed_text: int = 32_768  # of one utterance that is written while it is spoken
    body_bytes: int = 10 << 20
    message_bytes: int = 1 << 20
    body_s: float = 30.0  # for a request to arrive
    idle_s: float = 60.0  # for more words of an utterance, or for a place
    ping_s: float = 20.0  # how often a WebSocket is asked whether it lives, and for its answer
    write_s: float = 15.0  # for a client to read what was sent
    late_s: float = 30.0  # so far behind its own sound, an utterance gives way to those that wait
    retry_s: int = 5  # told to those who find the queue full


class Admission:
    """Places for utterances. `give_way` is called now and then while somebody waits: an utterance
    far behind its own sound, whose client neither reads nor writes, ends there.
    """

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
        looking = asyncio.ensure_future(self._look())
        self.waiting += 1
        try:
            async with asyncio.timeout(self._limits.idle_s):
                await self._free.acquire()
        except TimeoutError as error:
            raise self._busy() from error
        finally:
            looking.cancel()
            self.waiting -= 1
        try:
            yield
        finally:
            self._free.release()

    async def _look(self) -> None:
        while True:
            self._give_way()
            await asyncio.sleep(LOOK_S)

    def _busy(self) -> Busy:
        return Busy(
            "All {count} places are taken.",
            hint="Try again in {seconds} seconds.",
            count=self._limits.slots,
            seconds=self._limits.retry_s,
        )
