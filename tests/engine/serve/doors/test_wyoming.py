"""The door of Home Assistant on a socket of this machine, with parts that are fakes."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import Event
from wyoming.handle import Handled
from wyoming.info import Describe, Info
from wyoming.ping import Ping
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeVoice,
)

from engine.errors import TimedOut
from engine.serve.doors.wyoming import wyoming_server
from engine.serve.limits import Limits
from engine.serve.service import SAMPLE_RATE, Service
from tests.engine.serve.served import connection, started
from tests.help.fakes.parts import FakeParts
from tests.help.fakes.tts import OWN_RATE

TEXT = "Mary had a little lamb."
SECONDS = 7 / OWN_RATE  # of it


@dataclass
class House:
    """A door, and what is behind it."""

    service: Service
    parts: FakeParts
    port: int

    @asynccontextmanager
    async def client(self) -> AsyncIterator[AsyncTcpClient]:
        async with AsyncTcpClient("127.0.0.1", self.port) as client:
            yield client

    async def ask(self, last: str, *events: Any) -> list[Event]:
        """Send these, and read up to an event of that type, or to the end."""
        async with self.client() as client:
            await send(client, *events)
            return await until(client, last)


async def send(client: AsyncTcpClient, *events: Any) -> None:
    for event in events:
        await client.write_event(event if isinstance(event, Event) else event.event())


async def until(client: AsyncTcpClient, last: str) -> list[Event]:
    found: list[Event] = []
    while (event := await client.read_event()) is not None:
        found.append(event)
        if event.type == last:
            break
    return found


def types(events: list[Event]) -> list[str]:
    """In order, each run of the same once."""
    kinds = [event.type for event in events]
    return [kind for at, kind in enumerate(kinds) if not at or kinds[at - 1] != kind]


def seconds(events: list[Event]) -> float:
    samples = sum(len(event.payload or b"") // 2 for event in events if event.type == "audio-chunk")
    return samples / SAMPLE_RATE


def sound(pcm: np.ndarray, rate: int = 16_000, channels: int = 1) -> list[Any]:
    """As a microphone's client sends it."""
    data = np.repeat((pcm * 32_767).astype("<i2"), channels).tobytes()
    shape = {"rate": rate, "width": 2, "channels": channels}
    size = 2 * channels * 1024
    chunks = [
        AudioChunk(**shape, audio=data[at : at + size], timestamp=at // size * 64)
        for at in range(0, len(data), size)
    ]
    return [AudioStart(**shape), *chunks, AudioStop()]


@asynccontextmanager
async def opened(limits: Limits | None = None) -> AsyncIterator[House]:
    parts, listener = FakeParts(), socket.create_server(("127.0.0.1", 0))
    async with started(limits, parts) as (service, _), wyoming_server(service, listener):
        yield House(service, parts, listener.getsockname()[1])


@pytest.fixture(scope="module")
def house(runner: asyncio.Runner) -> Iterator[House]:
    stack = AsyncExitStack()
    yield runner.run(stack.enter_async_context(opened()))
    runner.run(stack.aclose())


# ------------------------------------------------------------------------------ voice


async def test_it_says_what_it_can_do(house: House) -> None:
    (event,) = await house.ask("info", Describe())
    info = Info.from_event(event)
    assert [voice.name for voice in info.tts[0].voices] == ["Tone"]
    assert info.tts[0].supports_synthesize_streaming
    assert info.asr[0].models
    assert info.handle[0].models
    assert info.wake == []  # satellites have a wake phrase of their own
    (pong,) = await house.ask("pong", Ping("here"))
    assert pong.data["text"] == "here"


async def test_a_text_is_spoken_between_a_header_and_a_stop(house: House) -> None:
    events = await house.ask("audio-stop", Synthesize(TEXT, SynthesizeVoice("Tone")))
    assert types(events) == ["audio-start", "audio-chunk", "audio-stop"]
    assert events[0].data["rate"] == SAMPLE_RATE
    assert seconds(events) == pytest.approx(SECONDS, abs=0.1)
    assert events[-1].data["timestamp"] == pytest.approx(SECONDS * 1000, abs=100)


async def test_a_text_is_spoken_while_it_is_written_and_not_again_where_it_comes_whole(
    house: House,
) -> None:
    async with house.client() as client:
        await send(client, SynthesizeStart(SynthesizeVoice("Tone")))
        await send(client, SynthesizeChunk("Mary had a little "))
        early = await until(client, "audio-chunk")
        assert early[-1].type == "audio-chunk"  # nothing was ended yet
        await send(client, SynthesizeChunk("lamb."), Synthesize(TEXT), SynthesizeStop())
        events = early + await until(client, "synthesize-stopped")
    assert types(events) == ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"]
    assert seconds(events) == pytest.approx(SECONDS, abs=0.1)


async def test_one_connection_speaks_text_after_text(house: House) -> None:
    stream = [SynthesizeStart(), SynthesizeChunk(TEXT), SynthesizeStop()]
    async with house.client() as client:
        await send(client, *stream, *stream, Synthesize(TEXT))
        first = await until(client, "synthesize-stopped")
        second = await until(client, "synthesize-stopped")
        third = await until(client, "audio-stop")
    assert seconds(first) == seconds(second) == seconds(third)


async def test_the_tags_of_ssml_are_silent(house: House) -> None:
    ssml = f'<speak version="1.1"><prosody rate="slow">{TEXT}</prosody></speak>'
    texts = Synthesize(TEXT), Synthesize(ssml, text_format="ssml")
    plain, tagged = [seconds(await house.ask("audio-stop", each)) for each in texts]
    assert plain == tagged


async def test_the_context_gives_the_rate_at_first_and_while_it_speaks(house: House) -> None:
    own = await house.ask("audio-stop", Synthesize(TEXT))
    fast = await house.ask("audio-stop", Synthesize(TEXT, context={"rate": 7}))
    assert seconds(fast) == pytest.approx(seconds(own) * OWN_RATE / 7, abs=0.1)
    data = {"text": "had a little lamb.", "context": {"rate": 7}}
    pieces = SynthesizeChunk("Mary "), Event("synthesize-chunk", data)
    events = await house.ask("synthesize-stopped", SynthesizeStart(), *pieces, SynthesizeStop())
    assert seconds(events) < seconds(own) * 0.8


async def test_speech_that_is_cut_off_does_not_look_complete(house: House) -> None:
    async with house.client() as client:
        await send(client, Synthesize("go on " * 200))
        await until(client, "audio-chunk")
        (speech,) = house.service.speeches.values()
        speech.stop(TimedOut("Too late."))
        events = await until(client, "never")
    assert types(events)[-1] == "error"
    assert "audio-stop" not in types(events)


@pytest.mark.parametrize(
    ("event", "word"),
    [
        (Synthesize(TEXT, SynthesizeVoice("alloy")), "alloy"),
        (Synthesize(TEXT, SynthesizeVoice("../secret.wav")), "Tone"),
        (Synthesize(TEXT, text_format="markdown"), "text_format"),
        (Synthesize(TEXT, context={"rate": 99}), "rate"),
        (Synthesize("a " * 5000), "too long"),
        (Event("synthesize", {"text": 3}), "text"),
        (Event("synthesize", {"text": TEXT, "voice": 3}), "voice"),
        (Event("synthesize-start", {"context": 3}), "context"),
    ],
)
async def test_what_cannot_be_done_is_said_and_ends_the_connection(
    house: House, event: Any, word: str
) -> None:
    *_, error = await house.ask("never", event)  # to the end of the connection
    assert error.type == "error"
    assert word in error.data["text"]


# ------------------------------------------------------------------------- ears and mind


async def test_an_utterance_is_written_down(house: House) -> None:
    noise = np.random.default_rng(0).normal(0, 0.2, 32_000).astype(np.float32)
    with_speech = sound(noise * np.sin(np.arange(len(noise)) / 16_000 * 2 * np.pi * 3) ** 2)
    events = await house.ask("transcript-stop", Transcribe(language="en"), *with_speech)
    assert types(events)[0] == "transcript-start"
    transcripts = [Transcript.from_event(e) for e in events if Transcript.is_type(e.type)]
    assert [each.language for each in transcripts] == ["en"]
    silence = sound(np.zeros(16_000, np.float32), rate=48_000, channels=2)
    events = await house.ask("transcript-stop", Transcribe(), *silence)
    assert [e.data["text"] for e in events if e.type == "transcript"] == [""]


async def test_a_transcript_is_answered_and_its_conversation_remembered(house: House) -> None:
    context = {"conversation_id": "01J"}
    for _ in range(2):
        events = await house.ask("handled-stop", Transcript("hello", context=context))
        assert types(events) == ["handled-start", "handled-chunk", "handled", "handled-stop"]
        assert Handled.from_event(events[-2]).text == "Good day to you."
    assert [len(each) for each in house.parts.model.histories[-2:]] == [1, 3]
    await house.ask("handled-stop", Transcript("hello"))
    assert len(house.parts.model.histories[-1]) == 1


# ------------------------------------------------------------------------------ hostile


GARBAGE = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\xff\xfe\n",
    b"[]\n",
    b"{}\n",
    b"3\n",
    b'{"type": 3}\n',
    b'{"type": "synthesize", "data": []}\n',
    b'{"type": "synthesize", "data_length": 99999999999}\n',
    b'{"type": "synthesize", "data_length": -1}\n',
    b'{"type": "synthesize", "data_length": "9"}\n',
    b'{"type": "synthesize", "data_length": 2}\n[]',
    b'{"type": "audio-chunk", "payload_length": 99999999999}\n',
    b"[" * 50_000 + b"\n",
    json.dumps({"type": "transcribe"}).encode() + b"\n"
    b'{"type": "audio-chunk", "data": {"width": 7, "rate": 1}, "payload_length": 2}\nxx',
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
async def test_garbage_is_answered_with_an_error_and_the_end(house: House, garbage: bytes) -> None:
    async with connection(house.port, garbage) as (reader, _):
        assert b'"error"' in await reader.read()
    assert seconds(await house.ask("audio-stop", Synthesize(TEXT))) > 1


async def test_a_line_without_an_end_is_not_read_on_for_ever(house: House) -> None:
    async with connection(house.port) as (reader, writer):
        with suppress(ConnectionError):  # it is closed while we still write
            while not reader.at_eof():
                writer.write(b"x" * 65_536)
                await writer.drain()
                await asyncio.sleep(0)


@pytest.mark.parametrize(
    "begun", [b'{"type": "ping"', b'{"type": "ping", "data_length": 9}\n{"text"']
)
async def test_an_event_that_does_not_end_ends_its_connection(begun: bytes) -> None:
    async with opened(Limits(body_s=0.1)) as house, connection(house.port, begun) as (reader, _):
        assert b"in time" in await reader.read()


async def test_whoever_hangs_up_in_any_state_gives_everything_back() -> None:
    async with opened(Limits(slots=1)) as house:
        long = "go on and on and on " * 40
        start, chunk = SynthesizeStart(), SynthesizeChunk(long)
        states = [[], [start], [start, chunk], [start, chunk, SynthesizeStop()]]
        states += [[Synthesize(long)], [Transcribe(), *sound(np.zeros(512))[:2]]]
        for state in (*states, [Transcript("hello")]):
            async with house.client() as client:
                await send(client, *state)
            assert seconds(await house.ask("audio-stop", Synthesize(TEXT))) > 1
        assert not house.service.speeches


async def test_whoever_only_listens_is_spoken_to_to_the_end() -> None:
    async with opened(Limits(idle_s=0.02)) as house:
        events = await house.ask("audio-stop", Synthesize("go on " * 15))
        assert events[-1].type == "audio-stop"
        assert seconds(events) > 6


async def test_a_door_closes_while_one_text_waits_for_another() -> None:
    async with opened() as house:
        client = AsyncTcpClient("127.0.0.1", house.port)
        await client.connect()
        await send(client, *[Synthesize("go on " * 600)] * 3)
        await until(client, "audio-chunk")
    await client.disconnect()


async def test_a_silent_client_stays_unless_it_keeps_a_place() -> None:
    async with opened(Limits(idle_s=0.05)) as house, house.client() as silent:
        events = await house.ask("never", SynthesizeStart())
        assert events[-1].type == "error"
        await send(silent, Ping("here"))
        assert [event.type for event in await until(silent, "pong")] == ["pong"]
