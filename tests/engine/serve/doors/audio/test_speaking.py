"""POST /v1/audio/speech and the change of a rate, over a socket."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import av
import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from engine.audio.pcm import SYNTHETIC
from engine.errors import TimedOut
from engine.serve.address import HERE
from engine.serve.application import Access
from engine.serve.limits import Limits
from engine.serve.service import SAMPLE_RATE
from tests.engine.serve.served import (
    ANSWERS,
    HeldClock,
    Served,
    connected,
    connection,
    say,
    serving,
    tell,
    until,
)
from tests.help.fakes.tts import OWN_RATE

TEXT = "Mary had a little lamb."
LONG = "go on and on and on " * 40


async def post(served: Served, **fields: Any) -> Any:
    return await served.client.post("/v1/audio/speech", json={"input": TEXT, **fields})


@asynccontextmanager
async def speaking(
    served: Served, **fields: Any
) -> AsyncIterator[tuple[httpx.Response, AsyncIterator[bytes]]]:
    """A long text that is being spoken, from its first sound on."""
    body = {"input": LONG, "response_format": "pcm", "lead_ms": 100, **fields}
    async with served.client.stream("POST", "/v1/audio/speech", json=body) as answer:
        sound = answer.aiter_bytes()
        await anext(sound)
        yield answer, sound


async def test_every_format_holds_the_same_speech(served: Served) -> None:
    pcm = await post(served, response_format="pcm")
    seconds = len(pcm.content) / 2 / SAMPLE_RATE
    assert seconds == pytest.approx(7 / OWN_RATE, abs=0.1)
    for name in ("mp3", "opus", "aac", "flac", "wav"):
        answer = await post(served, response_format=name)
        assert answer.status_code == 200
        assert _seconds(answer.content) == pytest.approx(seconds, abs=0.15), name


@pytest.mark.parametrize("name", ["opus", "flac", "wav"])
async def test_a_file_says_that_its_speech_is_synthetic(served: Served, name: str) -> None:
    answer = await post(served, response_format=name)
    with av.open(io.BytesIO(answer.content)) as file:
        told = {**file.metadata, **file.streams.audio[0].metadata}
    assert told["comment"] == SYNTHETIC


def _seconds(content: bytes) -> float:
    with av.open(io.BytesIO(content)) as file:
        samples = sum(frame.samples / frame.sample_rate for frame in file.decode(audio=0))
    return float(samples)


async def test_events_carry_the_sound_and_what_was_used(served: Served) -> None:
    plain = await post(served, response_format="pcm")
    answer = await post(served, response_format="pcm", stream_format="sse")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(each[6:]) for each in answer.text.split("\n\n") if each]
    assert {event["type"] for event in events[:-1]} == {"speech.audio.delta"}
    assert events[-1]["type"] == "speech.audio.done"
    assert events[-1]["usage"]["total_tokens"] > 0
    assert len(plain.content) == sum(_size(event) for event in events[:-1])


def _size(event: dict[str, str]) -> int:
    return len(event["audio"]) * 3 // 4 - event["audio"].count("=")


@pytest.mark.parametrize(
    ("fields", "status", "word"),
    [*ANSWERS["speaking"], ({"input": "a" * 5000}, 400, "too long")],
)
async def test_what_cannot_be_done_is_said_in_the_shape_of_openai(
    served: Served, fields: dict[str, Any], status: int, word: str
) -> None:
    answer = await post(served, **fields)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert word in error["message"]
    assert not served.service.speeches


async def test_a_voice_is_given_by_name_or_id_and_a_model_by_the_names_clients_know(
    served: Served,
) -> None:
    for fields in ({"voice": "tone"}, {"voice": {"id": "Tone"}}, {"model": "tts-1-hd"}):
        assert (await post(served, **fields)).status_code == 200
    voices = (await served.client.get("/v1/audio/voices")).json()
    assert [voice["name"] for voice in voices["voices"]] == ["Tone"]


async def test_a_speed_is_a_factor_on_the_own_pace_and_a_rate_is_itself(served: Served) -> None:
    lengths = {}
    asked = {"own": {}, "one": {"speed": 1}, "fastest": {"rate": 13}, "beyond": {"speed": 4}}
    for name, fields in asked.items():
        answer = await post(served, response_format="pcm", **fields)
        lengths[name] = len(answer.content)
    assert lengths["own"] == lengths["one"]
    assert lengths["fastest"] == lengths["beyond"] < lengths["own"] * 0.7


async def test_a_rate_changes_while_it_is_spoken(served: Served) -> None:
    async with speaking(served) as (answer, sound):
        address = f"/v1/audio/speech/{answer.headers['x-speech-id']}"
        changed = await served.client.patch(address, json={"rate": 7})
        assert changed.status_code == 200
        assert changed.json()["rate"] == 7.0
        (speech,) = served.service.speeches.values()
        assert speech.rate == 7.0
        assert (await served.client.get(address)).json()["words"] >= 1
        assert (await served.client.patch(address, json={})).status_code == 400
        assert (await served.client.delete(address)).status_code == 200
        assert [part async for part in sound][:9] is not None  # it ends
    assert (await served.client.patch(address, json={"rate": 7})).status_code == 404


async def test_a_client_that_hangs_up_gives_its_place_back() -> None:
    async with serving(Limits(slots=1)) as served:
        async with speaking(served):
            pass
        assert (await post(served)).status_code == 200
        assert not served.service.speeches


async def test_whoever_finds_the_queue_full_is_told_when_to_come_again() -> None:
    async with serving(Limits(slots=1, queue=1)) as served:
        async with speaking(served, lead_ms=0):
            waiting = asyncio.ensure_future(post(served))
            while not served.service.waiting:
                await asyncio.sleep(0.001)
            refused = await post(served)
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) > 0
            assert refused.json()["error"]["type"] == "rate_limit_error"
        assert (await waiting).status_code == 200


async def test_a_client_that_lets_others_wait_for_nothing_loses_its_place() -> None:
    async with serving(Limits(slots=1, late_s=-1.0)) as served, speaking(served, lead_ms=0):
        assert (await post(served)).status_code == 200


# -------------------------------------------------------------------------------- text streamed in


TWELVE = "Mary had a little lamb, its fleece was white as snow."


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


async def test_text_in_pieces_is_one_utterance_with_true_word_times(served: Served) -> None:
    async with connected(served) as socket:
        await tell(socket, "session.config", voice="tone", lead_ms=60_000)
        for at in range(0, len(TWELVE), 5):
            await tell(socket, "input.text", text=TWELVE[at : at + 5])
        await tell(socket, "input.done")
        events, sound = await until(socket, "session.done")
    assert events[0]["type"] == "audio.start"
    assert (events[0]["sentence_index"], events[0]["format"]) == (0, "pcm")
    words = of_kind(events, "word")
    assert [TWELVE[word["start"] : word["end"]] for word in words] == TWELVE.split()
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
        events, _ = await say(socket, "go go go")
        assert of_kind(events, "word")[1]["at_ms"] == pytest.approx(1000 / 7, abs=1)


async def test_every_cancel_is_answered_and_gives_the_place_back(served: Served) -> None:
    async with connected(served) as socket:
        for text in ("", "go " * 100):
            if text:
                await tell(socket, "input.text", text=text)
                await until(socket, "word")
            await tell(socket, "input.cancel")
            events, _ = await until(socket, "session.cancelled")
            assert not of_kind(events, "session.done")
            assert (events[-1]["audio_ms"] > 0) is bool(text)
            assert not served.service.speeches


async def test_what_is_cut_off_does_not_look_complete() -> None:
    async with serving(Limits(slots=1, late_s=-1.0)) as served, connected(served) as socket:
        await tell(socket, "input.text", text=LONG)
        await until(socket, "word")
        waiting = asyncio.ensure_future(post(served))
        events, _ = await until(socket, "error")
        assert "other clients waited" in events[-1]["message"]
        assert not of_kind(events, "session.done")
        assert (await waiting).status_code == 200


@pytest.mark.parametrize("fails", [False, True])
async def test_speech_that_is_ended_over_http_does_not_look_complete(
    served: Served, fails: bool
) -> None:
    body = {"input": LONG, "response_format": "pcm", "lead_ms": 100}
    for kind in ("sse", "audio"):
        async with served.client.stream(
            "POST", "/v1/audio/speech", json={**body, "stream_format": kind}
        ) as answer:
            speech = served.service.speeches[answer.headers["x-speech-id"]]
            speech.stop(TimedOut("Too late.") if fails else None)
            if kind == "sse":
                *_, last = [json.loads(line[6:]) async for line in answer.aiter_lines() if line]
                assert last["type"] == "error"
            elif fails:
                with pytest.raises(httpx.RemoteProtocolError):
                    await answer.aread()


async def test_a_client_that_hangs_up_in_the_queue_leaves_it() -> None:
    async with serving(Limits(slots=1)) as served, connected(served) as socket:
        await tell(socket, "input.text", text="go " * 100)  # its place stays taken
        await until(socket, "word")
        waiting = asyncio.ensure_future(post(served))
        while not served.service.waiting:
            await asyncio.sleep(0.001)
        waiting.cancel()
        while served.service.waiting:
            await asyncio.sleep(0.001)


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
        assert "No text arrived" in events[-1]["message"]


async def test_a_client_that_answers_no_ping_is_let_go() -> None:
    handshake = (
        b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    )
    async with (
        serving(Limits(ping_s=0.05)) as served,
        connection(served.port, handshake) as (reader, _),
    ):
        assert b" 101 " in await reader.readline()
        await reader.read()  # to its end


async def test_the_guard_stands_before_websockets_too() -> None:
    right = {"Authorization": "Bearer secret"}
    wrong = [{**right, "Origin": "http://evil.example"}, {"Host": "evil.example"}]
    async with serving(access=Access(HERE, "secret", ("/",))) as served:
        for headers in (*wrong, {"Authorization": "Bearer x"}, {}):
            with pytest.raises(InvalidStatus):
                async with connected(served, additional_headers=headers):
                    pass
        protocols = ["realtime", "openai-insecure-api-key.secret"]
        async with connected(served, subprotocols=protocols) as socket:
            assert socket.subprotocol == "realtime"
