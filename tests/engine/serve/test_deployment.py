"""A cluster of two replicas on this machine, one of which is killed while a hundred texts are read.

Its parts are started as the command starts them, each in a process of its own.
"""

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("ray", reason="the extra 'cluster' is not installed")
pytest.importorskip("websockets", reason="the extra 'serve' is not installed")

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from engine.errors import Busy
from engine.serve.address import Address
from engine.serve.application import Access
from engine.serve.limits import Limits
from engine.serve.service import SAMPLE_RATE
from engine.settings import Settings
from tests.engine.serve.served import tell

if TYPE_CHECKING:
    from engine.serve.deployment import Plan

pytestmark = pytest.mark.long

SESSIONS, AT_ONCE = 100, 12
# On a loaded machine Ray's own processes take minutes to start; it gives them seconds.
PATIENCE = {
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "300",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "120",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}
TEXT = "This is reader number {number}, and the little lamb follows Mary wherever she may go today."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    patch = pytest.MonkeyPatch()
    for name, value in PATIENCE.items():
        patch.setenv(name, value)
    patch.setenv("RUBATO_DATA", str(tmp_path_factory.mktemp("data")))
    patch.setenv("PYTHONPATH", os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
    from engine.serve.deployment import start, stop  # reads the environment

    patch.setattr("ray.serve._private.api.HTTP_PROXY_TIMEOUT", 600)
    where = Address("127.0.0.1", port)
    start(plan(), where, {}, 2)
    yield where
    stop()
    patch.undo()


def plan() -> "Plan":
    from engine.serve.deployment import Plan

    settings = Settings()
    settings = replace(settings, speech=replace(settings.speech, engine="espeak"))
    return Plan(settings, Access(), Limits(slots=AT_ONCE, queue=AT_ONCE))


def replicas() -> list[str]:
    import ray

    named: list[dict[str, Any]] = ray.util.list_named_actors(all_namespaces=True)
    return [each["name"] for each in named if "REPLICA" in each["name"]]


class Reading:
    """A client that reads a text to its end: a word's event says where in the text it begins, so
    all before it are whole; behind a lost connection it asks for what follows those.
    """

    def __init__(self, where: Address, text: str, rate: float) -> None:
        self.heard: list[str] = []  # pieces of the text, whose sound came whole
        self.losses = self.samples = 0
        self._address = f"ws://{where.host}:{where.port}/v1/audio/speech/stream"
        self._text, self._rate, self._place = text, rate, 0

    async def to_the_end(self) -> None:
        while self._place < len(self._text):
            try:
                async with connect(self._address, close_timeout=1.0) as connection:
                    await self._listen(connection)
            except (ConnectionClosed, InvalidHandshake, OSError):
                self.losses += 1
            await asyncio.sleep(1.0 if self._place < len(self._text) else 0)

    async def _listen(self, connection: ClientConnection) -> None:
        start, known = self._place, 0
        await tell(connection, "session.config", response_format="pcm", rate=self._rate)
        await tell(connection, "input.text", text=self._text[start:])
        await tell(connection, "input.done")
        async for message in connection:
            if isinstance(message, bytes):
                self.samples += len(message) // 2
                continue
            event = json.loads(message)
            match event["type"]:
                case "word":
                    if 0 < known <= event["start"]:
                        self._keep(start + event["start"])
                    known = max(known, event["end"])
                case "audio.done":
                    return self._keep(len(self._text))
                case "error":
                    assert event["error"].get("code") == Busy.code, event
                    return None
        raise ConnectionError("the server hung up")

    def _keep(self, end: int) -> None:
        self.heard.append(self._text[self._place : end])
        self._place = end


@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_replica_that_is_killed_costs_no_word_and_repeats_none(address: Address) -> None:
    import ray

    before = replicas()
    assert len(before) == 2
    readings = [
        Reading(address, TEXT.format(number=number), 4.0 + number % 3) for number in range(SESSIONS)
    ]
    places = asyncio.Semaphore(AT_ONCE)

    async def read(reading: Reading) -> None:
        async with places:
            await reading.to_the_end()

    async def story() -> None:
        reading = [asyncio.ensure_future(read(each)) for each in readings]
        while sum(bool(each.heard) for each in readings) < 2 * AT_ONCE:
            await asyncio.sleep(0.01)
        ray.kill(ray.get_actor(before[0], namespace="serve"), no_restart=True)
        await asyncio.gather(*reading)

    asyncio.run(story())
    for number, each in enumerate(readings):
        assert "".join(each.heard) == TEXT.format(number=number)
        assert each.samples > SAMPLE_RATE
    assert sum(reading.losses for reading in readings) > 0
    assert any(name not in before for name in replicas())


async def speak_on(address: Address, begun: list[bool], leaving: asyncio.Event) -> bool:
    """Write words until the event is set; whether all was spoken before the server hung up."""

    async def write() -> None:
        while not leaving.is_set():
            await tell(socket, "input.text", text="and on ")
            await asyncio.sleep(1.0)
        await tell(socket, "input.done")

    at = f"ws://{address.host}:{address.port}/v1/audio/speech/stream"
    async with connect(at, proxy=None) as socket:
        writing = asyncio.ensure_future(write())
        async for message in socket:
            kind = "" if isinstance(message, bytes) else json.loads(message)["type"]
            if kind == "audio.start":
                begun.append(True)
            if kind == "error":
                return False
            if kind == "session.done":
                await writing
                return True
    return False


@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_replicas_that_are_to_go_speak_to_the_end_first(address: Address) -> None:
    from ray import serve

    from engine.serve.deployment import NAME, deployed

    before, begun = replicas(), list[bool]()
    one = deployed(plan(), {}, 1)

    def stopping() -> int:
        states = serve.status().applications[NAME].deployments["Engine"].replica_states
        return int(states.get("STOPPING", 0))

    async def story() -> None:
        leaving = asyncio.Event()
        talks = [asyncio.ensure_future(speak_on(address, begun, leaving)) for _ in before]
        while len(begun) < len(talks):  # each replica has one, or one of them all
            await asyncio.sleep(0.1)
        moving = asyncio.ensure_future(
            asyncio.to_thread(serve.run, one, name=NAME, route_prefix="/")
        )
        while not stopping():
            await asyncio.sleep(0.2)
        leaving.set()
        assert all(await asyncio.gather(*talks))
        await moving
        while set(replicas()) & set(before):
            await asyncio.sleep(0.2)

    asyncio.run(story())
    assert len(replicas()) == 1
