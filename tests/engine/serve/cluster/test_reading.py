"""A text that is read aloud goes on behind a lost connection: no word twice, none left out."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("websockets", reason="the extra 'serve' is not installed")

from websockets.asyncio.server import ServerConnection, serve

from engine.errors import SynthesisError
from tests.engine.serve.cluster.reading import Manner, Piece, Reading
from tests.engine.serve.served import serving

TEXT = "It costs $5 today, and all the neighbours know that Mary had a little lamb."
FAST = Manner(rate=5.0, lead_ms=60_000)


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


async def whole(reading: Reading) -> list[Piece]:
    return [piece async for piece in reading.pieces()]


@dataclass
class Relay:
    """Stands before a server and cuts connections after so many of its messages, one number for
    each connection in turn; None = never. `asked` keeps what the clients sent.
    """

    port: int
    cuts: list[int | None]
    asked: list[dict[str, Any]] = field(default_factory=list)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        async with serve(self._relay, "127.0.0.1", 0) as server:
            yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _relay(self, client: ServerConnection) -> None:
        from websockets.asyncio.client import connect

        cut = self.cuts.pop(0) if self.cuts else None
        async with connect(f"ws://127.0.0.1:{self.port}{client.request.path}") as server:
            upwards = asyncio.ensure_future(self._up(client, server))
            count = 0
            async for message in server:
                if count == cut:
                    client.transport.abort()
                    server.transport.abort()  # a closing handshake would wait for what is unread
                    break
                count += 1
                await client.send(message)
            upwards.cancel()

    async def _up(self, client: ServerConnection, server: Any) -> None:
        async for message in client:
            self.asked.append(json.loads(message))
            await server.send(message)
        await server.close()


async def test_a_lost_connection_costs_no_word_and_repeats_none() -> None:
    async with serving() as served:
        plain = await whole(Reading(f"ws://127.0.0.1:{served.port}", TEXT, FAST))
        relay = Relay(served.port, [0, 5, 1, 9, 3])
        async with relay.open() as address:
            reading = Reading(address, TEXT, FAST, wait=no_wait)
            found = await whole(reading)
    assert "".join(piece.text for piece in plain) == TEXT
    assert [piece.text for piece in found] == [piece.text for piece in plain]
    assert reading.losses == 5
    assert all(piece.pcm for piece in found)


async def test_the_rate_that_holds_is_said_to_the_next_replica() -> None:
    async with serving() as served:
        relay = Relay(served.port, [6])
        async with relay.open() as address:
            reading = Reading(address, TEXT, FAST, wait=no_wait)
            pieces = reading.pieces()
            await anext(pieces)
            await reading.change_rate(7.0)
            rest = [piece async for piece in pieces]
    assert rest
    rates = [each.get("rate") for each in relay.asked if each["type"] == "session.config"]
    assert rates == [5.0, 7.0]


async def test_words_that_stand_for_the_same_text_stay_together() -> None:
    async with serving() as served:
        found = await whole(Reading(f"ws://127.0.0.1:{served.port}", TEXT, FAST))
    assert [piece.text for piece in found][:4] == ["It ", "costs ", "$5 ", "today, "]


async def test_a_server_that_refuses_is_not_asked_again() -> None:
    async with serving() as served:
        reading = Reading(f"ws://127.0.0.1:{served.port}", TEXT, Manner("nobody"), wait=no_wait)
        with pytest.raises(SynthesisError, match="nobody"):
            await whole(reading)
