"""What the parts of the door may do with a client: send, and fail.

Invariant: a client that does not read in time is let go, and whoever is told of a fault is let go
too, since neither Home Assistant nor its satellites go on behind one.
"""

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress

from wyoming.error import Error
from wyoming.event import Eventable, async_write_event

from engine.errors import EngineError
from engine.serve.limits import Limits

log = logging.getLogger(__name__)


class Client:
    """The writing half of a connection."""

    def __init__(self, writer: asyncio.StreamWriter, limits: Limits) -> None:
        self._writer = writer
        self._limits = limits

    async def send(self, event: Eventable) -> None:
        """ConnectionError when the client has gone or does not read."""
        try:
            async with asyncio.timeout(self._limits.write_s):
                await async_write_event(event.event(), self._writer)
        except TimeoutError as error:
            raise ConnectionAbortedError("a client does not read") from error

    async def guarded(self, work: Awaitable[None]) -> None:
        """Do it; a fault is told, and ends the connection."""
        try:
            await work
        except EngineError as error:
            await self._fail(Error(str(error), error.code))
        except ConnectionError:
            self.close()
        except Exception as error:  # noqa: BLE001 - of ours: told without what it was about
            log.error("a client's wish failed kind=%s", type(error).__name__)  # noqa: TRY400
            await self._fail(Error("The server failed; its log has more.", "error"))

    def close(self) -> None:
        self._writer.close()

    async def _fail(self, error: Error) -> None:
        with suppress(ConnectionError):
            await self.send(error)
        self.close()
