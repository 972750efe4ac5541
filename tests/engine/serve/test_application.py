"""Who is let in, how much they may bring, and how long they may say nothing."""

import asyncio
import logging
import stat
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from engine.serve import application
from engine.serve.address import HERE
from engine.serve.application import Access
from engine.serve.limits import Limits
from engine.serve.server import TOKEN_FILE, own_limits, own_token
from engine.settings import Settings, SpeechSettings
from engine.tts import pick
from tests.engine.serve.served import ANSWERS, Served, connected, connection, say, serving, tell

VOICES = "/v1/audio/voices"


@pytest.mark.parametrize(("headers", "status"), ANSWERS["callers"])
async def test_only_who_calls_it_by_its_name_comes_in(
    served: Served, headers: dict[str, str], status: int
) -> None:
    assert (await served.client.get(VOICES, headers=headers)).status_code == status


NAMED = Access(HERE | {"host.docker.internal"}, "secret")
LOCKED = Access(HERE, "secret", ("/",))


@pytest.mark.parametrize(
    ("access", "host", "given", "status"),
    [
        *((LOCKED, "localhost", given, 200) for given in ("Bearer secret", "bearer secret")),
        *((LOCKED, "localhost", given, 401) for given in ("Bearer secre", "Bearer \u00e9")),
        *((LOCKED, "localhost", given, 401) for given in ("Basic secret", "secret", "")),
        (NAMED, "proxy.example", "Bearer secret", 200),
        (NAMED, "proxy.example", "Bearer wrong", 421),
        (NAMED, "evil.example", "", 421),
        (NAMED, "host.docker.internal:8790", "", 200),
        (Access(HERE, ""), "evil.example", "Bearer", 421),
    ],
)
async def test_with_the_token_any_host_name_will_do_and_without_it_a_listed_one_where_allowed(
    access: Access, host: str, given: str, status: int
) -> None:
    async with serving(access=access) as served:
        headers = {"Host": host.encode(), "Authorization": given.encode()}
        answer = await served.client.get(VOICES, headers=headers)
    assert answer.status_code == status
    assert status != 401 or answer.json()["error"]["code"] == "invalid_api_key"


@pytest.mark.parametrize("way", ["send", "receive"])
async def test_a_passage_that_is_cancelled_ends_at_whatever_moment(way: str) -> None:
    async def turn(*given: object) -> dict[str, object]:
        await asyncio.sleep(0)
        return {"type": "http.request", "more_body": True}

    async def pass_on() -> None:
        passage = application._BoundedRequest(turn, turn, Limits(), 1)
        while True:
            await (passage.send({}) if way == "send" else passage.receive())

    for turns in range(12):
        task = asyncio.create_task(pass_on())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=1)
        assert task.cancelled(), turns


async def test_a_body_may_not_be_larger_than_said_nor_than_it_says() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 100

    async with serving(Limits(body_bytes=1000)) as served:
        for content in (b"x" * 2000, pieces()):
            answer = await served.client.post("/v1/audio/speech", content=content)
            assert answer.status_code == 413


@pytest.mark.parametrize("trickle", [b"", b" "], ids=["does not arrive", "trickles in"])
async def test_a_body_that_is_late_is_not_waited_for(trickle: bytes) -> None:
    head = b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n{"
    limits = Limits(body_s=0.2)
    async with serving(limits) as served, connection(served.port, head) as (reader, writer):
        answer = asyncio.ensure_future(reader.readline())
        while not answer.done():
            writer.write(trickle)
            await asyncio.sleep(0.01)
        assert b" 408 " in await answer


async def test_a_connection_that_asks_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "HEAD_S", 0.02)

    async with serving() as served:
        for sent in (b"", b"GET /v1/models HTTP/1.1\r\nHost: local"):
            async with connection(served.port, sent) as (reader, _):
                assert await reader.read() == b""


@pytest.mark.parametrize("rest", [b"", b"X: y\r\n"])
async def test_a_later_head_that_does_not_end_ends_its_connection(
    monkeypatch: pytest.MonkeyPatch, rest: bytes
) -> None:
    async with serving() as served, connection(served.port) as (reader, writer):
        head = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n"
        for _ in range(2):
            writer.write(head + b"\r\n")
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b"]}")
        monkeypatch.setattr(application, "HEAD_S", 0.1)
        writer.write(head)
        ended = asyncio.ensure_future(reader.read())
        while not ended.done():
            writer.write(rest)
            await asyncio.sleep(0.01)
        with suppress(ConnectionResetError):  # the rest that was sent behind the end
            assert await ended == b""


async def test_a_websocket_lives_on_behind_its_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "HEAD_S", 0.02)

    async with serving() as served, connected(served) as socket:
        async with connection(served.port) as (idle, _):
            assert await idle.read() == b""  # so much time has passed
        await say(socket, "hello ")


async def test_nothing_that_is_said_is_written_down(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving() as served, connected(served) as socket:
        await tell(socket, "session.config", lead_ms=60_000)
        await say(socket, "abracadabra ")
        body = {"input": "abracadabra", "voice": "abracadabra"}
        await served.client.post("/v1/audio/speech", json=body)

    ours = [each for each in caplog.records if not each.name.startswith(("websockets.c", "http"))]
    assert not any("abracadabra" in each.getMessage() for each in ours)


# -------------------------------------------------------------------------- token, address, places


def test_a_token_is_made_once_and_only_its_owner_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    made = own_token()
    assert len(made) >= 32
    path = tmp_path / TOKEN_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert own_token() == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_places_are_as_measured_unless_the_person_set_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    settings = Settings(speech=SpeechSettings(engine="starter"))
    assert own_limits(settings).slots == pick.UNMEASURED_PLACES
    pick.keep_speeds({"starter": 0.15}, tmp_path)
    assert own_limits(settings).slots == 4
    chosen = replace(settings, serve=replace(settings.serve, places=3))
    assert own_limits(chosen).slots == 3
