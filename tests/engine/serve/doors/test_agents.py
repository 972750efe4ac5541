"""The tools for agents, through MCP's own client, and this machine's loudspeaker behind them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from engine.serve.application import Access
from engine.serve.doors.agents import agents_server
from engine.serve.limits import Clock
from engine.serve.server import HERE
from tests.engine.serve.served import serving, started
from tests.fakes import RATE, FakeParts, HandLoudspeaker
from tests.fakes_tts import OWN_RATE

SENTENCES = "Go on and on. Then stop here. At last."


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


async def call(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return str(result.content[0].text)  # type: ignore[union-attr]


async def test_the_tools_are_there_with_their_documentation() -> None:
    async with meeting() as (_, client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {
            *("speak", "set_rate", "stop", "pause", "resume", "skip"),
            *("list_voices", "listen_once"),
        }
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


async def test_a_pause_holds_the_sound_and_nothing_of_it_is_lost() -> None:
    async with meeting() as (desk, client):
        await call(client, "speak", text="go " * 20)
        await desk.until(lambda: desk.loudspeaker.samples_played > RATE)
        await call(client, "pause")
        played, at = desk.loudspeaker.samples_played, desk.at
        await desk.until(lambda: desk.at > at + 2)
        assert desk.loudspeaker.samples_played == played
        await call(client, "resume")
        await desk.said()
        whole = 20 / OWN_RATE * RATE
        assert desk.loudspeaker.samples_played == pytest.approx(whole, abs=RATE / 20)


@pytest.mark.parametrize(("sentences", "words"), [(1, ["Then"]), (2, ["At"]), (0, ["Go"])])
async def test_it_can_be_skipped_by_sentences(sentences: int, words: list[str]) -> None:
    async with meeting() as (desk, client):
        await call(client, "speak", text=SENTENCES)
        await desk.until(lambda: desk.loudspeaker.samples_played > RATE // 2)
        before = len(desk.voice.spoken)
        await call(client, "skip", sentences=sentences)
        await desk.said()
        assert desk.voice.spoken[before : before + 1] == words
        assert desk.voice.spoken[-1] == "last."


async def test_a_stop_forgets_what_waits() -> None:
    async with meeting() as (desk, client):
        await call(client, "speak", text="go " * 20)
        await call(client, "speak", text="never")
        await desk.until(lambda: desk.loudspeaker.samples_played > RATE // 2)
        await call(client, "stop")
        assert "never" not in desk.voice.spoken
        assert desk.loudspeaker.closed


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("speak", {"text": "hi", "voice": "alloy"}, "Tone"),
        ("speak", {"text": "hi", "rate": 99}, "7"),
        ("speak", {"text": "a" * 5000}, "4096"),
        ("speak", {}, "text"),
        ("skip", {}, "Nothing"),
        ("listen_once", {"seconds": 999}, "120"),
    ],
)
async def test_what_cannot_be_done_is_said_to_the_agent(
    name: str, arguments: dict[str, object], word: str
) -> None:
    async with meeting() as (_, client):
        result = await client.call_tool(name, arguments)
        assert result.is_error
        assert word in result.content[0].text  # type: ignore[union-attr]


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
