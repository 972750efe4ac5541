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

from websockets.asyncio.client import connect

from engine.serve.application import Access
from engine.serve.server import Address
from engine.serve.service import SAMPLE_RATE, Limits
from engine.settings import Settings
from tests.engine.serve.cluster.reading import Manner, Reading

if TYPE_CHECKING:
    from engine.serve.cluster.deployment import Plan

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
    from engine.serve.cluster.deployment import start, stop  # reads the environment

    patch.setattr("ray.serve._private.api.HTTP_PROXY_TIMEOUT", 600)
    where = Address("127.0.0.1", port)
    start(plan(), where, {}, 2)
    yield where
    stop()
    patch.undo()


def plan() -> "Plan":
    from engine.serve.cluster.deployment import Plan

    settings = Settings()
    settings = replace(settings, speech=replace(settings.speech, engine="espeak"))
    return Plan(settings, Access(), Limits(slots=AT_ONCE, queue=AT_ONCE))


def replicas() -> list[str]:
    import ray

    named: list[dict[str, Any]] = ray.util.list_named_actors(all_namespaces=True)
    return [each["name"] for each in named if "REPLICA" in each["name"]]


@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_replica_that_is_killed_costs_no_word_and_repeats_none(address: Address) -> None:
    import ray

    before = replicas()
    assert len(before) == 2
    readings = [
        Reading(
            f"ws://{address.host}:{address.port}",
            TEXT.format(number=number),
            Manner(rate=4.0 + number % 3),
        )
        for number in range(SESSIONS)
    ]
    places = asyncio.Semaphore(AT_ONCE)
    heard: dict[int, list[str]] = {number: [] for number in range(SESSIONS)}
    samples = dict.fromkeys(heard, 0)

    async def read(number: int) -> None:
        async with places:
            async for piece in readings[number].pieces():
                heard[number].append(piece.text)
                samples[number] += len(piece.pcm) // 2

    async def story() -> None:
        reading = [asyncio.ensure_future(read(number)) for number in range(SESSIONS)]
        while sum(bool(texts) for texts in heard.values()) < 2 * AT_ONCE:
            await asyncio.sleep(0.01)
        ray.kill(ray.get_actor(before[0], namespace="serve"), no_restart=True)
        await asyncio.gather(*reading)

    asyncio.run(story())
    for number, texts in heard.items():
        assert "".join(texts) == TEXT.format(number=number)
        assert samples[number] > SAMPLE_RATE
    assert sum(reading.losses for reading in readings) > 0
    assert any(name not in before for name in replicas())


async def speak_on(address: Address, begun: list[bool], leaving: asyncio.Event) -> bool:
    """Write words until the event is set; whether all was spoken before the server hung up."""

    async def write() -> None:
        while not leaving.is_set():
            await socket.send(json.dumps({"type": "input.text", "text": "and on "}))
            await asyncio.sleep(1.0)
        await socket.send(json.dumps({"type": "input.done"}))

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

    from engine.serve.cluster.deployment import NAME, deployed

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
