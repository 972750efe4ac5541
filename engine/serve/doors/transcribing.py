"""POST /v1/audio/transcriptions as OpenAI's clients know it.

Invariant: the recording is decoded in the same bounded process as one that a person drops on the
window, from a file that only this request has and that ends with it.
"""

import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import ConfigDict
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from engine.asr.base import SAMPLE_RATE
from engine.export.subtitles import stamp
from engine.serve.doors.requests import (
    Fields,
    Refusal,
    Text,
    Wire,
    check_model,
    checked,
    server_sent,
)
from engine.serve.models import Segment

MODELS: Final = ("rubato", "whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")
_GRANULARITIES: Final = "timestamp_granularities[]"
_MOST_FIELDS: Final = 20
_UNKNOWN: Final = {  # what clients expect of a segment and this recogniser does not say
    "seek": 0,
    "tokens": [],
    "temperature": 0.0,
    "avg_logprob": 0.0,
    "compression_ratio": 1.0,
    "no_speech_prob": 0.0,
}


class _Form(Wire):
    model_config = ConfigDict(arbitrary_types_allowed=True, strict=True)

    file: UploadFile
    model: Text = MODELS[0]
    response_format: Literal["json", "text", "srt", "verbose_json", "vtt"] = "json"
    language: Text = ""
    stream: Text = ""


async def transcribe(request: Request) -> Response:
    """Write down what is said in a recording."""
    ears = request.app.state.service.ears
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as sent:
        if "word" in sent.getlist(_GRANULARITIES):
            raise Refusal("Segments have times here, words have none.", field=_GRANULARITIES)
        form = checked(_Form, dict(sent))
        check_model(form.model, MODELS)
        with tempfile.TemporaryDirectory(prefix="rubato-") as folder:
            path = Path(folder, "recording")  # whatever the client calls it
            path.write_bytes(await form.file.read())
            pcm = await ears.read(path)
    segments = ears.segments(pcm, form.language)
    if form.stream in ("true", "True", "1"):
        return StreamingResponse(server_sent(_events(segments)), media_type="text/event-stream")
    heard = [segment async for segment in segments]
    return _answer(form.response_format, heard, len(pcm) / SAMPLE_RATE)


async def _events(segments: AsyncIterator[Segment]) -> AsyncIterator[Fields]:
    text = ""
    async for segment in segments:
        text += segment.delta
        yield {"type": "transcript.text.delta", "delta": segment.delta}
    yield {"type": "transcript.text.done", "text": text}


def _answer(name: str, segments: Sequence[Segment], seconds: float) -> Response:
    text = "".join(segment.delta for segment in segments)
    match name:
        case "text":
            return PlainTextResponse(text + "\n")
        case "srt":
            return PlainTextResponse(_cues(segments))
        case "vtt":
            cues = "WEBVTT\n\n" + _cues(segments, ".")
            return PlainTextResponse(cues, media_type="text/vtt")
        case "verbose_json":
            language = segments[0].language if segments else ""
            about = {"task": "transcribe", "language": language, "duration": round(seconds, 3)}
            shown = [_shown(number, each) for number, each in enumerate(segments)]
            return JSONResponse({**about, "text": text, "segments": shown})
        case _:
            used = {"type": "duration", "seconds": round(seconds)}
            return JSONResponse({"text": text, "usage": used})


def _cues(segments: Sequence[Segment], point: str = ",") -> str:
    def time(seconds: float) -> str:
        return stamp(seconds).replace(",", point)

    return "".join(
        f"{number}\n{time(each.start_s)} --> {time(each.end_s)}\n{each.text}\n\n"
        for number, each in enumerate(segments, 1)
    )


def _shown(number: int, segment: Segment) -> Fields:
    times = {"start": round(segment.start_s, 3), "end": round(segment.end_s, 3)}
    return {**_UNKNOWN, "id": number, "text": segment.text, **times}
