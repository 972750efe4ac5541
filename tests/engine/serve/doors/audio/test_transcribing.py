"""POST /v1/audio/transcriptions: what was said in a recording, in every shape of the answer."""

import io
import json
from typing import Any

import numpy as np
import pytest
import soundfile

from engine.audio.pcm import Pcm
from engine.audio.vad import SAMPLE_RATE as EAR_RATE
from engine.audio.vad import Stretch
from engine.serve.models import portions
from engine.serve.service import SAMPLE_RATE
from tests.engine.serve.served import Served

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


@pytest.mark.parametrize(
    ("content", "fields", "status", "word"),
    [
        (b"no sound", {}, 400, "not sound"),
        (b"", {}, 400, "empty"),
        (b"x", {"model": "x"}, 404, "model"),
        (b"x", {"response_format": "x"}, 400, "srt"),
        (b"x", {"timestamp_granularities[]": "word"}, 400, "words have none"),
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
