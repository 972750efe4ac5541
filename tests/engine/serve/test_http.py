"""Connections on which nothing is asked, and those on which something goes on."""

import asyncio
import logging
import socket

import pytest

from engine.serve import application
from engine.serve.server import listen
from tests.engine.serve.doors.test_streaming import connected, tell, until
from tests.engine.serve.served import serving


async def test_a_connection_that_asks_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "HEAD_S", 0.02)

    async with serving() as served:
        for sent in (b"", b"GET /v1/models HTTP/1.1\r\nHost: local"):
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(sent)
            assert await reader.read() == b""
            writer.close()


async def test_a_websocket_lives_on_behind_its_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "HEAD_S", 0.02)

    async with serving() as served, connected(served) as socket:
        idle, writer = await asyncio.open_connection("127.0.0.1", served.port)
        assert await idle.read() == b""  # so much time has passed
        writer.close()
        await tell(socket, "input.text", text="hello ")
        await tell(socket, "input.done")
        await until(socket, "session.done")


async def test_nothing_that_is_said_is_written_down(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving() as served, connected(served) as socket:
        await tell(socket, "input.text", text="abracadabra ")
        await tell(socket, "input.done")
        await until(socket, "session.done")
        body = {"input": "abracadabra", "voice": "abracadabra"}
        await served.client.post("/v1/audio/speech", json=body)

    ours = [each for each in caplog.records if not each.name.startswith(("websockets.c", "http"))]
    assert not any("abracadabra" in each.getMessage() for each in ours)


def test_a_small_message_does_not_wait_for_the_one_before() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
