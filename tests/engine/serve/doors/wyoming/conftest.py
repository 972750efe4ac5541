"""The door of Home Assistant on a socket of this machine, with parts that are fakes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from engine.serve.limits import Limits
from engine.serve.service import SAMPLE_RATE, Service
from tests.help.fakes.parts import FakeParts
from tests.help.fakes.tts import OWN_RATE

pytest.importorskip("wyoming", reason="the extra 'serve' is not installed")

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import Event

from engine.serve.doors.wyoming import wyoming_server
from tests.engine.serve.served import started

TEXT = "Mary had a little lamb."
SECONDS = 7 / OWN_RATE  # of it


@dataclass
class House:
    """A door, and what is behind it."""

    service: Service
    parts: FakeParts
    port: int

    @asynccontextmanager
    async def client(self) -> AsyncIterator[AsyncTcpClient]:
        async with AsyncTcpClient("127.0.0.1", self.port) as client:
            yield client

    async def ask(self, last: str, *events: Any) -> list[Event]:
        """Send these, and read up to an event of that type, or to the end."""
        async with self.client() as client:
            for event in events:
                await client.write_event(event if isinstance(event, Event) else event.event())
            return await until(client, last)


async def until(client: AsyncTcpClient, last: str) -> list[Event]:
    found: list[Event] = []
    while (event := await client.read_event()) is not None:
        found.append(event)
        if event.type == last:
            break
    return found


def types(events: list[Event]) -> list[str]:
    """In order, each run of the same once."""
    kinds = [event.type for event in events]
    return [kind for at, kind in enumerate(kinds) if not at or kinds[at - 1] != kind]


def seconds(events: list[Event]) -> float:
    samples = sum(len(event.payload or b"") // 2 for event in events if event.type == "audio-chunk")
    return samples / SAMPLE_RATE


def sound(pcm: np.ndarray, rate: int = 16_000, channels: int = 1) -> list[Any]:
    """As a microphone's client sends it."""
    data = np.repeat((pcm * 32_767).astype("<i2"), channels).tobytes()
    shape = {"rate": rate, "width": 2, "channels": channels}
    size = 2 * channels * 1024
    chunks = [
        AudioChunk(**shape, audio=data[at : at + size], timestamp=at // size * 64)
        for at in range(0, len(data), size)
    ]
    return [AudioStart(**shape), *chunks, AudioStop()]


@asynccontextmanager
async def opened(limits: Limits | None = None) -> AsyncIterator[House]:
    parts, listener = FakeParts(), socket.create_server(("127.0.0.1", 0))
    async with started(limits, parts) as (service, _), wyoming_server(service, listener):
        yield House(service, parts, listener.getsockname()[1])


@pytest.fixture(scope="module")
def house(runner: asyncio.Runner) -> Iterator[House]:
    stack = AsyncExitStack()
    yield runner.run(stack.enter_async_context(opened()))
    runner.run(stack.aclose())
