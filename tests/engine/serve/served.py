"""A server as clients meet it: on a socket of this machine, with a voice made of tones."""

import asyncio
import json
import threading
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect

from engine.audio.pcm import Pcm, Resampler
from engine.runtime.headless.offline_synthesis import OfflineSynthesis, SpeechRequest
from engine.runtime.headless.say_command import collect
from engine.serve.address import listen
from engine.serve.application import Access, application, http_server
from engine.serve.doors.agents import agents_server
from engine.serve.limits import Clock, Limits
from engine.serve.service import SAMPLE_RATE, Service
from engine.settings import Settings
from engine.tts.espeak.model import EspeakModel
from tests.help.fakes.parts import FakeParts, FakeRecogniser, FakeRecognition
from tests.help.fakes.tts import FakeTts

ANSWERS = tomllib.loads(Path(__file__).with_name("answers.toml").read_text("utf-8"))


@dataclass
class Served:
    service: Service
    client: httpx.AsyncClient
    port: int
    voice: FakeTts


class HeldClock:
    """Stands still, and whoever waits with it, until it is let go; from then on nobody waits."""

    def __init__(self) -> None:
        self._gone = asyncio.Event()
        self.go = self._gone.set
        self.clock = Clock(now=lambda: 0.0, wait=self._wait)

    async def _wait(self, seconds: float) -> None:
        await self._gone.wait()


class HeldRecogniser(FakeRecogniser):
    """Understands nothing before it is `let` to, and counts the utterances."""

    def __init__(self, *, let: bool = False) -> None:
        super().__init__()
        self.let = threading.Event()
        self.opened = 0
        if let:
            self.let.set()

    def open(self) -> FakeRecognition:
        self.opened += 1
        assert self.let.wait(120.0)
        return super().open()


@asynccontextmanager
async def started(
    limits: Limits | None = None,
    parts: FakeParts | None = None,
    clock: Clock | None = None,
    settings: Settings | None = None,
) -> AsyncIterator[tuple[Service, FakeTts]]:
    voice = FakeTts()
    factories = (parts or FakeParts()).factories()
    factories = replace(factories, synthesiser=lambda settings, progress: voice)
    service = Service(settings or Settings(), factories, limits, clock)
    try:
        await service.start()
        yield service, voice
    finally:
        service.stop()


@asynccontextmanager
async def serving(
    limits: Limits | None = None,
    access: Access | None = None,
    parts: FakeParts | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Served]:
    async with started(limits, parts, clock) as (service, voice):
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        app = application(service, access or Access(), agents_server(service))
        server = http_server(app, service.limits)
        running = asyncio.ensure_future(server.serve([listener]))
        address = f"http://127.0.0.1:{port}"
        try:
            async with httpx.AsyncClient(base_url=address, timeout=None, trust_env=False) as client:
                yield Served(service, client, port, voice)
        finally:
            server.should_exit = True
            await running


@asynccontextmanager
async def connected(served: Served, **options: Any) -> AsyncIterator[ClientConnection]:
    """The WebSocket that takes streamed text."""
    address = f"ws://127.0.0.1:{served.port}/v1/audio/speech/stream"
    async with connect(address, proxy=None, **options) as socket:
        yield socket


@asynccontextmanager
async def connection(
    port: int, sent: bytes = b"", **options: Any
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection without a client's library, on which these bytes were sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **options)
    writer.write(sent)
    yield reader, writer
    writer.close()


async def tell(socket: ClientConnection, kind: str, **fields: Any) -> None:
    await socket.send(json.dumps({"type": kind, **fields}))


async def until(socket: ClientConnection, kind: str) -> tuple[list[dict[str, Any]], bytes]:
    events: list[dict[str, Any]] = []
    sound = b""
    while not events or events[-1]["type"] != kind:
        message = await socket.recv()
        if isinstance(message, bytes):
            sound += message
        else:
            events.append(json.loads(message))
    return events, sound


async def say(
    socket: ClientConnection, text: str, last: str = "session.done"
) -> tuple[list[dict[str, Any]], bytes]:
    """Let a whole text be spoken; what comes up to the last event."""
    await tell(socket, "input.text", text=text)
    await tell(socket, "input.done")
    return await until(socket, last)


@pytest.fixture(scope="module")
def parts() -> FakeParts:
    return FakeParts()


@pytest.fixture(scope="module")
def served(runner: asyncio.Runner, parts: FakeParts) -> Iterator[Served]:
    stack = AsyncExitStack()
    yield runner.run(stack.enter_async_context(serving(parts=parts)))
    runner.run(stack.aclose())


@pytest.fixture(scope="module")
def question() -> Pcm:
    return asked("Good morning, how are you today?")


def asked(text: str) -> Pcm:
    """Somebody asks this, and is silent for a second: samples at SAMPLE_RATE."""
    model = EspeakModel()
    try:
        pcm = collect(OfflineSynthesis(model, SpeechRequest(text, model.voices()[0])))
        resampler = Resampler(model.info.sample_rate, SAMPLE_RATE)
    finally:
        model.close()
    silence = np.zeros(SAMPLE_RATE, np.float32)
    return np.concatenate([resampler.push(pcm), resampler.end(), silence])
