"""Limits of a client (bytes, slots, waiting times), and the source of time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from engine.errors import Busy

RETRY_S: Final = 5  # Retry-After of the response when the queue is full


@dataclass(frozen=True)
class Clock:
    """The source of time; tests use a manually stepped one."""

    now: Callable[[], float] = time.monotonic  # s
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep  # s


@dataclass(frozen=True)
class Limits:
    """`slots`: utterances spoken at once, and recordings transcribed at once; `queue` more of
    either wait. Texts in characters, times in seconds. `body_bytes` of a request, `upload_bytes` of
    one with a recording (OpenAI's have 25 MB, without the form around them), `message_bytes` of one
    WebSocket message.
    """

    slots: int = 2
    queue: int = 8
    text: int = 4_096  # of one request, as OpenAI's
    streamed_text: int = 32_768  # of one utterance that is written while it is spoken
    body_bytes: int = 10 << 20
    upload_bytes: int = 26 << 20
    message_bytes: int = 1 << 20
    body_s: float = 30.0  # for a request to arrive; a long one that keeps arriving gets more
    idle_s: float = 60.0  # for more words of an utterance, or for a slot
    ping_s: float = 20.0  # interval of a WebSocket's pings, and limit for their answer
    write_s: float = 15.0  # for a client to read sent data
    late_s: float = 30.0  # behind its own sound: such an utterance ends if others wait

    def busy(self) -> Busy:
        """Return the error when all slots are in use."""
        return Busy(
            "All {count} slots are in use.",
            hint="Try again in {seconds} seconds.",
            count=self.slots,
            seconds=RETRY_S,
        )
