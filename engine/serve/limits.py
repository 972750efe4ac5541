"""Limits of a client (bytes sent, places held, waiting times), and the source of time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from engine.errors import Busy

RETRY_S: Final = 5  # Retry-After of the answer when the queue is full


@dataclass(frozen=True)
class Clock:
    """Source of time; tests replace it with one that they step."""

    now: Callable[[], float] = time.monotonic  # s
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep  # s


@dataclass(frozen=True)
class Limits:
    """`slots`: utterances that are spoken at once, and recordings that are transcribed at once;
    of either, `queue` more wait. Texts in characters, times in seconds, `body_bytes` of a request,
    `upload_bytes` of one with a recording (OpenAI's have 25 MB, without the form around them),
    `message_bytes` of one WebSocket message.
    """

    slots: int = 2
    queue: int = 8
    text: int = 4_096  # of one request, as OpenAI's
    streamed_text: int = 32_768  # of one utterance that is written while it is spoken
    body_bytes: int = 10 << 20
    upload_bytes: int = 26 << 20
    message_bytes: int = 1 << 20
    body_s: float = 30.0  # for a request to arrive; longer for a long one that keeps arriving
    idle_s: float = 60.0  # for more words of an utterance, or for a place
    ping_s: float = 20.0  # how often a WebSocket is asked whether it lives, and for its answer
    write_s: float = 15.0  # for a client to read what was sent
    late_s: float = 30.0  # behind its own sound: such an utterance gives way to waiting ones

    def busy(self) -> Busy:
        """The error when all places are taken."""
        return Busy(
            "All {count} places are taken.",
            hint="Try again in {seconds} seconds.",
            count=self.slots,
            seconds=RETRY_S,
        )
