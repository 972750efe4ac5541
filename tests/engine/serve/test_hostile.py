"""What a hostile client may try: nothing of it stops the others, or stays behind."""

import asyncio
import json
import random

import pytest

from engine.serve.limits import Limits
from tests.engine.serve.served import Served, connected, connection, serving, tell, until

LONG = "go " * 1000
BOMBS = [
    "a" * 4000,
    "1" * 4000,
    "$" * 4000,
    "((((" * 1000,
    "$\\frac{" * 500,
    "a.b." * 1000,
    "1,2," * 1000,
    "\u202e\u0301" * 2000,
    "<slow>" * 600,
    "9" * 300 + "e" + "9" * 300,
    "https://" + "a/" * 1900,
    "\n" * 4000,
    "\0" * 4000,
    "\U0001f600" * 2000,
]


async def alive(served: Served) -> None:
    """Somebody else is served."""
    answer = await served.client.post("/v1/audio/speech", json={"input": "hello"})
    assert answer.status_code == 200


def malformed(number: int) -> str | bytes:
    chance = random.Random(number)
    event = json.dumps({"type": chance.choice(["input.text", "session.config", "x", ""])})
    match number % 4:
        case 0:
            return bytes(chance.randrange(256) for _ in range(chance.randrange(60)))
        case 1:
            return event[: chance.randrange(len(event))]
        case 2:
            key = chance.choice(["text", "rate", "voice", "response_format", "lead_ms"])
            value = chance.choice([[], {}, None, -1, 1e308, "x" * 2000, True])
            return json.dumps({"type": "session.config", key: value})
        case _:
            return json.dumps(chance.choice([[], 3, "x", None, {"type": []}, {"type": {}}]))


async def test_four_thousand_malformed_messages_harm_nobody(served: Served) -> None:
    sent = 0
    while sent < 4000:
        async with connected(served, close_timeout=0.02) as socket:  # it does not read
            try:
                for _ in range(200):
                    await socket.send(malformed(sent))
                    sent += 1
            except Exception:  # noqa: BLE001 - it was let go, as it should be
                continue
    await alive(served)


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: ascii(bomb[:8]))
async def test_a_text_made_to_be_slow_holds_nobody_up(served: Served, bomb: str) -> None:
    body = {"input": bomb, "response_format": "pcm"}
    async with served.client.stream("POST", "/v1/audio/speech", json=body) as answer:
        assert answer.status_code in (200, 400)
        await alive(served)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b'{"input": "' + b"\\ud800" * 99 + b'"}',
        b'{"input": "hello", "voice": "\\ud800"}',
        b'{"input": "hello", "speed": 1e999}',
    ],
    ids=lambda content: content[:14].decode(),
)
async def test_json_made_to_break_something_is_refused(served: Served, content: bytes) -> None:
    answer = await served.client.post("/v1/audio/speech", content=content)
    assert answer.status_code == 400
    await alive(served)


async def test_a_reader_that_does_not_read_is_let_go() -> None:
    body = json.dumps({"input": LONG, "response_format": "wav"}).encode()
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
    request = head.encode() + b"\r\n\r\n" + body
    limits = Limits(slots=1, write_s=0.2)
    async with serving(limits) as served, connection(served.port, request, limit=1):
        await alive(served)  # once the only place is free


async def test_one_client_cannot_keep_all_others_waiting(served: Served) -> None:
    async with connected(served) as greedy:
        await tell(greedy, "input.text", text="never ending ")
        for _ in range(20):  # it speaks only once at a time, however often it asks
            await tell(greedy, "input.done")
        await until(greedy, "audio.start")
        await alive(served)


async def test_a_hundred_connections_come_and_go(served: Served) -> None:
    for _ in range(10):
        sockets = [connected(served) for _ in range(10)]
        opened = [await each.__aenter__() for each in sockets]
        await asyncio.gather(*(tell(each, "session.update", rate=2) for each in opened))
        await asyncio.gather(*(until(each, "session.updated") for each in opened))
        for each in sockets:
            await each.__aexit__(None, None, None)
    assert not served.service.speeches
    await alive(served)
