"""Text streamed in, speech and words streamed out, over a WebSocket."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from engine.serve.application import Access
from engine.serve.server import HERE
from engine.serve.service import SAMPLE_RATE, Limits
from tests.engine.serve.served import ANSWERS, HeldClock, Served, connected, serving, tell, until
from tests.fakes_tts import OWN_RATE

TEXT = "Mary had a little lamb, its fleece was white as snow."


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


async def test_text_in_pieces_is_one_utterance_with_true_word_times(served: Served) -> None:
    async with connected(served) as socket:
        await tell(socket, "session.config", voice="tone", lead_ms=60_000)
        for at in range(0, len(TEXT), 5):
            await tell(socket, "input.text", text=TEXT[at : at + 5])
        await tell(socket, "input.done")
        events, sound = await until(socket, "session.done")
    assert events[0]["type"] == "audio.start"
    assert (events[0]["sentence_index"], events[0]["format"]) == (0, "pcm")
    words = of_kind(events, "word")
    assert [TEXT[word["start"] : word["end"]] for word in words] == TEXT.split()
    assert words[1]["at_ms"] == 2000 / OWN_RATE
    done = of_kind(events, "audio.done")[0]
    assert done["audio_ms"] == pytest.approx(len(sound) / 2 / SAMPLE_RATE * 1000, abs=50)


async def test_a_rate_holds_from_the_next_frame_and_for_the_next_utterance() -> None:
    """It speaks no further than its lead until the rate has come."""
    held = HeldClock()
    async with serving(clock=held.clock) as served, connected(served) as socket:
        await tell(socket, "input.text", text="go " * 12)
        await until(socket, "word")
        await tell(socket, "session.update", rate=7)
        events, _ = await until(socket, "session.updated")
        assert events[-1]["rate"] == 7.0
        held.go()
        await tell(socket, "input.done")
        events, _ = await until(socket, "session.done")
        starts = [word["at_ms"] for word in of_kind(events, "word")]
        assert starts[-1] - starts[-2] == pytest.approx(1000 / 7, abs=1)
        await tell(socket, "input.text", text="go go go")
        await tell(socket, "input.done")
        events, _ = await until(socket, "session.done")
        assert of_kind(events, "word")[1]["at_ms"] == pytest.approx(1000 / 7, abs=1)


async def test_a_cancelled_utterance_gives_its_place_back(served: Served) -> None:
    async with connected(served) as socket:
        await tell(socket, "input.text", text="go " * 100)
        await until(socket, "word")
        await tell(socket, "input.cancel")
        await tell(socket, "session.update", rate=2)
        await until(socket, "session.updated")
        assert not served.service.speeches


async def test_a_client_that_vanishes_gives_its_place_back_in_every_state(served: Served) -> None:
    for events in (
        [],
        [("session.config", {})],
        [("input.text", {"text": "go "})],
        [("input.text", {"text": "go " * 100})],
        [("input.text", {"text": "go " * 100}), ("input.done", {})],
    ):
        async with connected(served) as socket:
            for kind, fields in events:
                await tell(socket, kind, **fields)
            socket.transport.abort()
    while served.service.speeches:
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("message", "word"),
    [*ANSWERS["streaming"], ("[" * 5000, "JSON"), (b"\xff\xfe", "JSON")],
)
async def test_what_is_no_event_is_answered_and_the_connection_lives(
    served: Served, message: str | bytes, word: str
) -> None:
    async with connected(served) as socket:
        await socket.send(message)
        events, _ = await until(socket, "error")
        assert word in events[-1]["message"]
        await tell(socket, "session.update", rate=2)
        await until(socket, "session.updated")


async def test_who_sends_nothing_but_nonsense_is_let_go(served: Served) -> None:
    async with connected(served) as socket:
        answers = 0
        with suppress(ConnectionClosed):
            for _ in range(4000):
                await socket.send("nonsense")
                await socket.recv()
                answers += 1
        assert 0 < answers < 100


async def test_a_client_that_says_nothing_stays() -> None:
    async with serving(Limits(idle_s=0.01)) as served, connected(served) as socket:
        await asyncio.sleep(0.1)
        await tell(socket, "session.update", rate=2)
        await until(socket, "session.updated")
        await tell(socket, "input.text", text="and now ")
        events, _ = await until(socket, "error")  # an utterance has a place, and is not waited for
        assert "Nothing came" in events[-1]["message"]


async def test_a_client_that_answers_no_ping_is_let_go() -> None:
    async with serving(Limits(ping_s=0.05)) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(
            b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        )
        assert b" 101 " in await reader.readline()
        await reader.read()  # to its end
        writer.close()


async def test_the_guard_stands_before_websockets_too() -> None:
    right = {"Authorization": "Bearer secret"}
    wrong = [{**right, "Origin": "http://evil.example"}, {**right, "Host": "evil.example"}]
    async with serving(access=Access(HERE, "secret", ("/",))) as served:
        for headers in (*wrong, {"Authorization": "Bearer x"}, {}):
            with pytest.raises(InvalidStatus):
                async with connected(served, additional_headers=headers):
                    pass
        protocols = ["realtime", "openai-insecure-api-key.secret"]
        async with connected(served, subprotocols=protocols) as socket:
            assert socket.subprotocol == "realtime"
