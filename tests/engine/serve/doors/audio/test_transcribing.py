"""POST /v1/audio/transcriptions: what was said in a recording, in every shape of the answer."""

import asyncio
import io
import json
from typing import Any

import numpy as np
import pytest
import soundfile

from engine.audio.pcm import Pcm
from engine.audio.vad import SAMPLE_RATE as EAR_RATE
from engine.audio.vad import Stretch
from engine.serve import models
from engine.serve.doors.encoding import Encoder
from engine.serve.limits import Limits
from engine.serve.models import portions
from engine.serve.service import SAMPLE_RATE
from tests.engine.serve.served import HeldRecogniser, Served, serving
from tests.help.fakes.parts import FakeParts

HEARD = "hello there"  # whatever is said, to the recogniser of these tests


def recording(pcm: Pcm) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, pcm, SAMPLE_RATE, format="FLAC")
    return file.getvalue()


async def send(served: Served, content: bytes, **fields: str) -> Any:
    files = {"file": ("../../any name.flac", content)}
    data = {"model": "whisper-1", **fields}
    return await served.client.post("/v1/audio/transcriptions", files=files, data=data)


async def test_every_shape_holds_the_same_words(served: Served, question: Pcm) -> None:
    sound = recording(np.concatenate([question, question]))
    texts = {
        name: await send(served, sound, response_format=name)
        for name in ("json", "text", "srt", "vtt", "verbose_json")
    }
    both = f"{HEARD} {HEARD}"
    assert texts["json"].json()["text"] == both
    assert texts["text"].text == both + "\n"
    assert texts["srt"].text.startswith("1\n00:00:00,")
    assert texts["srt"].text.count(HEARD) == 2
    assert texts["vtt"].text.startswith("WEBVTT\n\n1\n00:00:00.")
    verbose = texts["verbose_json"].json()
    first, second = verbose["segments"]
    assert first["start"] < 0.3 < first["end"] < second["start"] < second["end"]
    assert second["end"] <= verbose["duration"]
    assert verbose["language"] == "en"


async def test_the_words_can_be_streamed(served: Served, question: Pcm) -> None:
    answer = await send(served, recording(question), stream="true")
    events = [json.loads(each[6:]) for each in answer.text.split("\n\n") if each]
    assert [event["type"] for event in events] == [
        "transcript.text.delta",
        "transcript.text.done",
    ]
    assert events[-1]["text"] == HEARD


async def test_where_nobody_speaks_there_is_no_text(served: Served) -> None:
    answer = await send(served, recording(np.zeros(SAMPLE_RATE, np.float32)))
    assert answer.json()["text"] == ""


async def test_a_recording_of_many_chunks_is_understood_as_one(
    served: Served, question: Pcm, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = recording(np.tile(question, 6))
    whole = (await send(served, sound, response_format="verbose_json")).json()
    monkeypatch.setattr(models, "CHUNK_S", 2.5 * len(question) / SAMPLE_RATE)  # cuts a sentence
    chunked = (await send(served, sound, response_format="verbose_json")).json()
    assert chunked["text"] == whole["text"] == " ".join([HEARD] * 6)
    assert chunked["duration"] == pytest.approx(6 * len(question) / SAMPLE_RATE, abs=0.01)
    starts = [[each["start"] for each in answer["segments"]] for answer in (whole, chunked)]
    assert starts[1] == pytest.approx(starts[0], abs=0.1)


@pytest.mark.parametrize("tells", [True, False], ids=["length known", "length unknown"])
async def test_a_recording_that_is_too_long_is_refused(
    served: Served, monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    monkeypatch.setattr(models, "LONGEST_S", 8.0)
    monkeypatch.setattr(models, "CHUNK_S", 3.0)
    silence = np.zeros(9 * SAMPLE_RATE, np.float32)
    made = Encoder("aac")
    sound = recording(silence) if tells else made.push(silence) + made.end()
    answer = await send(served, sound)
    assert answer.status_code == 400
    assert "in parts" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("megabytes", "status"), [(25, 400), (27, 413)])
async def test_a_file_may_be_as_large_as_openai_takes(
    served: Served, megabytes: int, status: int
) -> None:
    assert (await send(served, bytes(megabytes << 20))).status_code == status


@pytest.mark.parametrize("stream", ["true", "false"])
async def test_a_client_that_hangs_up_is_not_worked_for(question: Pcm, stream: str) -> None:
    recogniser = HeldRecogniser()
    async with serving(parts=FakeParts(recogniser=recogniser)) as served:
        ears = served.service.ears
        sound = recording(np.tile(question, 3))
        client = asyncio.ensure_future(send(served, sound, stream=stream))
        try:
            while not recogniser.opened:
                await asyncio.sleep(0.001)
            client.cancel()
            while ears.recordings:
                await asyncio.sleep(0.001)
        finally:
            recogniser.let.set()
        await ears.call(lambda model: None)  # what was asked for before is done
        assert recogniser.opened == 1


async def test_only_so_many_recordings_are_taken_as_texts_are(question: Pcm) -> None:
    recogniser = HeldRecogniser()
    parts = FakeParts(recogniser=recogniser)
    async with serving(Limits(slots=1, queue=1), parts=parts) as served:
        clients = [asyncio.ensure_future(send(served, recording(question))) for _ in range(5)]
        try:
            refused, _ = await asyncio.wait(clients, return_when=asyncio.FIRST_COMPLETED)
            while len(refused) < 3:
                refused = {each for each in clients if each.done()}
                await asyncio.sleep(0.001)
            assert {each.result().status_code for each in refused} == {429}
        finally:
            recogniser.let.set()
        answers = await asyncio.gather(*clients)
        assert sorted(each.status_code for each in answers) == [200, 200, 429, 429, 429]


@pytest.mark.parametrize(
    ("content", "fields", "status", "word"),
    [
        (b"no sound", {}, 400, "not sound"),
        (b"", {}, 400, "empty"),
        (b"x", {"model": "x"}, 404, "model"),
        (b"x", {"response_format": "x"}, 400, "srt"),
        (b"x", {"timestamp_granularities[]": "word"}, 400, "not for words"),
    ],
)
async def test_what_cannot_be_heard_is_said(
    served: Served, content: bytes, fields: dict[str, str], status: int, word: str
) -> None:
    answer = await send(served, content, **fields)
    assert answer.status_code == status
    assert word in answer.json()["error"]["message"]


async def test_a_request_without_a_recording_is_told_so(served: Served) -> None:
    answer = await served.client.post("/v1/audio/transcriptions", data={"model": "whisper-1"})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "file"


def test_neighbours_are_one_segment_and_what_is_long_is_cut() -> None:
    def seconds(*edges: float) -> list[Stretch]:
        samples = [round(edge * EAR_RATE) for edge in edges]
        return [Stretch(a, b) for a, b in zip(samples[::2], samples[1::2], strict=True)]

    assert portions(seconds(0, 1, 1.5, 2, 4, 5)) == seconds(0, 2, 4, 5)
    assert portions(seconds(0, 45)) == seconds(0, 20, 20, 40, 40, 45)
    assert portions([]) == []
