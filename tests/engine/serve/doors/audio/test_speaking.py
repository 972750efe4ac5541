"""POST /v1/audio/speech and the change of a rate, over a socket."""

import asyncio
import io
import json
from typing import Any

import av
import pytest

from engine.serve.service import SAMPLE_RATE, Limits
from tests.engine.serve.served import ANSWERS, Served, serving
from tests.fakes_tts import OWN_RATE

TEXT = "Mary had a little lamb."
LONG = "go on and on and on " * 40


async def say(served: Served, **fields: Any) -> Any:
    return await served.client.post("/v1/audio/speech", json={"input": TEXT, **fields})


async def test_every_format_holds_the_same_speech(served: Served) -> None:
    pcm = await say(served, response_format="pcm")
    seconds = len(pcm.content) / 2 / SAMPLE_RATE
    assert seconds == pytest.approx(7 / OWN_RATE, abs=0.1)
    for name in ("mp3", "opus", "aac", "flac", "wav"):
        answer = await say(served, response_format=name)
        assert answer.status_code == 200
        assert _seconds(answer.content) == pytest.approx(seconds, abs=0.15), name


def _seconds(content: bytes) -> float:
    with av.open(io.BytesIO(content)) as file:
        samples = sum(frame.samples / frame.sample_rate for frame in file.decode(audio=0))
    return float(samples)


async def test_events_carry_the_sound_and_what_was_used(served: Served) -> None:
    plain = await say(served, response_format="pcm")
    answer = await say(served, response_format="pcm", stream_format="sse")
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
    answer = await say(served, **fields)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert word in error["message"]
    assert not served.service.speeches


async def test_a_voice_is_given_by_name_or_id_and_a_model_by_the_names_clients_know(
    served: Served,
) -> None:
    for fields in ({"voice": "tone"}, {"voice": {"id": "Tone"}}, {"model": "tts-1-hd"}):
        assert (await say(served, **fields)).status_code == 200
    voices = (await served.client.get("/v1/audio/voices")).json()
    assert [voice["name"] for voice in voices["voices"]] == ["Tone"]


async def test_a_speed_is_a_factor_on_the_own_pace_and_a_rate_is_itself(served: Served) -> None:
    lengths = {}
    asked = {"own": {}, "one": {"speed": 1}, "fastest": {"rate": 7}, "beyond": {"speed": 4}}
    for name, fields in asked.items():
        answer = await say(served, response_format="pcm", **fields)
        lengths[name] = len(answer.content)
    assert lengths["own"] == lengths["one"]
    assert lengths["fastest"] == lengths["beyond"] < lengths["own"] * 0.7


async def test_a_rate_changes_while_it_is_spoken(served: Served) -> None:
    body = {"input": LONG, "response_format": "pcm", "lead_ms": 100}
    async with served.client.stream("POST", "/v1/audio/speech", json=body) as answer:
        sound = answer.aiter_bytes()
        await anext(sound)
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
        body = {"input": LONG, "response_format": "pcm", "lead_ms": 100}
        async with served.client.stream("POST", "/v1/audio/speech", json=body) as answer:
            sound = answer.aiter_bytes()
            await anext(sound)
        assert (await say(served)).status_code == 200
        assert not served.service.speeches


async def test_whoever_finds_the_queue_full_is_told_when_to_come_again() -> None:
    async with serving(Limits(slots=1, queue=1)) as served:
        body = {"input": LONG, "response_format": "pcm", "lead_ms": 0}
        async with served.client.stream("POST", "/v1/audio/speech", json=body) as answer:
            sound = answer.aiter_bytes()
            await anext(sound)
            waiting = asyncio.ensure_future(say(served))
            while not served.service.waiting:
                await asyncio.sleep(0.001)
            refused = await say(served)
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) > 0
            assert refused.json()["error"]["type"] == "rate_limit_error"
        assert (await waiting).status_code == 200


async def test_a_client_that_lets_others_wait_for_nothing_loses_its_place() -> None:
    async with serving(Limits(slots=1, late_s=-1.0)) as served:
        body = {"input": LONG, "response_format": "pcm", "lead_ms": 0}
        async with served.client.stream("POST", "/v1/audio/speech", json=body) as answer:
            sound = answer.aiter_bytes()
            await anext(sound)
            assert (await say(served)).status_code == 200
