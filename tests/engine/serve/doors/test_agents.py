"""The tools for agents, through MCP's own client, and this machine's loudspeaker behind them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from engine.errors import SynthesisError
from engine.serve.address import HERE
from engine.serve.application import Access
from engine.serve.doors.agents import agents_server
from engine.serve.limits import Clock
from tests.engine.serve.served import serving, started
from tests.help.fakes.parts import RATE, FakeParts, HandLoudspeaker
from tests.help.fakes.tts import OWN_RATE


class Desk:
    """A room whose loudspeaker plays while somebody waits."""

    def __init__(self) -> None:
        self.parts = FakeParts()
        self.at = 0.0
        self.clock = Clock(now=lambda: self.at, wait=self._wait)

    async def _wait(self, seconds: float) -> None:
        self.at += seconds
        self.loudspeaker.play(round(seconds * RATE))
        await asyncio.sleep(0)

    @property
    def loudspeaker(self) -> HandLoudspeaker:
        return self.parts.loudspeakers[""]

    async def said(self) -> None:
        await self.until(lambda: self.loudspeaker.closed)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await asyncio.sleep(0)


@asynccontextmanager
async def meeting() -> AsyncIterator[tuple[Desk, Client]]:
    desk = Desk()
    async with (
        started(parts=desk.parts, clock=desk.clock) as (service, desk.voice),
        Client(agents_server(service)) as client,
    ):
        yield desk, client
        await client.call_tool("stop", {})


async def call(client: Client, name: str, *, fails: bool = False, **arguments: object) -> str:
    """Return the text of a tool's result, or what an agent is told of a call that fails."""
    result = await client.call_tool(name, arguments)
    assert bool(result.is_error) is fails, result.content
    return str(result.content[0].text)  # type: ignore[union-attr]


async def test_the_tools_are_there_with_their_documentation() -> None:
    async with meeting() as (_, client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"speak", "set_rate", "stop", "list_voices", "listen_once"}
        assert all(tool.description for tool in tools.values())
        assert await call(client, "list_voices") == "Tone"


async def test_a_text_is_said_aloud_to_its_end() -> None:
    async with meeting() as (desk, client):
        await call(client, "speak", text="Go on.", wait=True)
        assert desk.voice.spoken == ["Go", "on."]
        assert desk.loudspeaker.samples_played == pytest.approx(2 / OWN_RATE * RATE, abs=RATE / 50)
        assert desk.loudspeaker.closed


async def test_a_rate_holds_within_the_text_that_is_being_said() -> None:
    async with meeting() as (desk, client):
        await call(client, "speak", text="go " * 40)
        await desk.until(lambda: desk.loudspeaker.samples_played > RATE)
        await call(client, "set_rate", rate=7)
        await desk.said()
        seconds = desk.loudspeaker.samples_played / RATE
        assert seconds < 1.6 + 36 / 7


async def test_without_a_loudspeaker_an_agent_is_told_and_nothing_is_kept() -> None:
    async with meeting() as (desk, client):
        gone = desk.parts.loudspeakers.pop("")
        for wait in (False, True):
            for _ in range(20):  # more than may wait
                assert "loudspeaker" in await call(
                    client, "speak", fails=True, text="never", wait=wait
                )
        desk.parts.loudspeakers[""] = gone
        await call(client, "speak", text="Go on.", wait=True)
        assert desk.voice.spoken == ["Go", "on."]


async def test_a_loudspeaker_that_goes_ends_what_is_said_and_what_waits() -> None:
    async with meeting() as (desk, client):
        texts = ["go " * 40, "never"]
        waiting = [
            asyncio.ensure_future(call(client, "speak", fails=True, text=t, wait=True))
            for t in texts
        ]
        await call(client, "speak", text="nor this")
        await desk.until(lambda: desk.loudspeaker.samples_played > RATE)
        desk.loudspeaker.gone = True
        await asyncio.gather(*waiting)
        assert "never" not in desk.voice.spoken
        desk.parts.loudspeakers[""] = HandLoudspeaker()
        await call(client, "speak", text="Go on.", wait=True)
        assert desk.voice.spoken[-2:] == ["Go", "on."]


async def test_who_waits_hears_of_the_own_text_alone() -> None:
    async with meeting() as (desk, client):
        waiting = asyncio.ensure_future(call(client, "speak", text="One " * 4, wait=True))
        await desk.until(lambda: bool(desk.voice.spoken))
        await call(client, "speak", text="go " * 40)
        assert await waiting == "The text was spoken."
        assert desk.voice.spoken.count("go") < 40


async def test_who_waits_learns_that_it_was_stopped_and_can_speak_again() -> None:
    async with meeting() as (desk, client):
        texts = ["go " * 40, "never"]
        waiting = [asyncio.ensure_future(call(client, "speak", text=t, wait=True)) for t in texts]
        await desk.until(lambda: desk.loudspeaker.samples_played > RATE)
        stopping = asyncio.ensure_future(call(client, "stop"))
        first = desk.loudspeaker
        desk.parts.loudspeakers[""] = HandLoudspeaker()
        said = asyncio.ensure_future(call(client, "speak", text="Go on.", wait=True))
        assert await asyncio.gather(*waiting) == ["The text was stopped."] * 2
        assert await stopping == "All speech was stopped."
        assert await said == "The text was spoken."
        assert first.closed
        assert desk.loudspeaker.closed
        assert "never" not in desk.voice.spoken


def fail_at_bad(word: str) -> None:
    if word == "bad":
        raise SynthesisError("The voice failed.")


async def test_a_text_that_fails_does_not_keep_the_next_one_waiting() -> None:
    async with meeting() as (desk, client):
        desk.voice.on_word = fail_at_bad
        bad = asyncio.ensure_future(call(client, "speak", fails=True, text="bad", wait=True))
        good = asyncio.ensure_future(call(client, "speak", text="Go on.", wait=True))
        await bad
        assert await good == "The text was spoken."


async def test_only_so_many_texts_wait() -> None:
    async with meeting() as (desk, client):
        await call(client, "speak", text="go " * 400)
        await desk.until(lambda: bool(desk.voice.spoken))
        for _ in range(16):
            await call(client, "speak", text="never")
        assert "16 texts" in await call(client, "speak", fails=True, text="never")


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("speak", {"text": "hi", "voice": "alloy"}, "Tone"),
        ("speak", {"text": "hi", "rate": 99}, "13"),
        ("speak", {"text": "a" * 5000}, "4096"),
        ("speak", {}, "text"),
        ("listen_once", {"seconds": 999}, "120"),
    ],
)
async def test_what_cannot_be_done_is_said_to_the_agent(
    name: str, arguments: dict[str, object], word: str
) -> None:
    async with meeting() as (_, client):
        assert word in await call(client, name, fails=True, **arguments)


async def test_nobody_speaks_and_nothing_is_heard() -> None:
    async with meeting() as (desk, client):
        desk.parts.recogniser.text = ""
        assert await call(client, "listen_once", seconds=1) == ""
        assert desk.parts.microphones[""].closed


async def test_over_http_the_tools_need_the_token() -> None:
    async with serving(access=Access(HERE, "secret", ("/mcp",))) as served:
        address = f"http://127.0.0.1:{served.port}/mcp"
        assert (await served.client.post(address, json={})).status_code == 401
        assert (await served.client.get("/v1/audio/voices")).status_code == 200
        headers = {"Authorization": "Bearer secret"}
        async with (
            httpx.AsyncClient(headers=headers, trust_env=False) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            assert await call(client, "list_voices") == "Tone"
