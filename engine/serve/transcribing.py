"""POST /v1/audio/transcriptions as OpenAI's clients know it.

Invariant: the recording is decoded in the same bounded process as one that a person drops on the
window, from a file that only this request has and that ends with it.
"""

import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from engine.asr.base import SAMPLE_RATE
from engine.audio.pcm import Pcm
from engine.errors import EngineError
from engine.export.subtitles import stamp
from engine.serve.answers import BadField, Fields, check_model, choice_of, fault, text_of
from engine.serve.hearing import Ears, Segment
from engine.serve.service import Service

MODELS: Final = ("rubato", "whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")
_FORMATS: Final = ("json", "text", "srt", "verbose_json", "vtt")
_GRANULARITIES: Final = "timestamp_granularities[]"
_MOST_FIELDS: Final = 20


def routes() -> list[Route]:
    return [Route("/v1/audio/transcriptions", _transcribe, methods=["POST"])]


async def _transcribe(request: Request) -> Response:
    service: Service = request.app.state.service
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        check_model(text_of(fields, "model", MODELS[0]), MODELS)
        name = choice_of(fields, "response_format", _FORMATS, "json")
        if "word" in form.getlist(_GRANULARITIES):
            raise BadField(_GRANULARITIES, "Segments have times here, words have none.")
        pcm = await _samples(form, service.ears)
    language = text_of(fields, "language")
    segments = service.ears.segments(pcm, language)
    if text_of(fields, "stream") in ("true", "True", "1"):
        return StreamingResponse(_events(segments), media_type="text/event-stream")
    heard = [segment async for segment in segments]
    return _answer(name, heard, len(pcm) / SAMPLE_RATE)


async def _samples(form: FormData, ears: Ears) -> Pcm:
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        raise BadField("file", "Give a recording as 'file'.")
    with tempfile.TemporaryDirectory(prefix="rubato-") as folder:
        path = Path(folder, "recording")  # whatever the client calls it
        path.write_bytes(await upload.read())
        return await ears.read(path)


async def _events(segments: AsyncIterator[Segment]) -> AsyncIterator[bytes]:
    text = ""
    try:
        async for segment in segments:
            delta = f" {segment.text}" if text else segment.text
            text += delta
            yield _event({"type": "transcript.text.delta", "delta": delta})
    except EngineError as error:
        yield _event({"type": "error", "error": fault(error)})
        return
    yield _event({"type": "transcript.text.done", "text": text})


def _event(value: Fields) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _answer(name: str, segments: Sequence[Segment], seconds: float) -> Response:
    text = " ".join(segment.text for segment in segments)
    match name:
        case "text":
            return PlainTextResponse(text + "\n")
        case "srt":
            return PlainTextResponse(_cues(segments, ","))
        case "vtt":
            return PlainTextResponse("WEBVTT\n\n" + _cues(segments, "."), media_type="text/vtt")
        case "verbose_json":
            return JSONResponse(_verbose(text, segments, seconds))
        case _:
            used = {"type": "duration", "seconds": round(seconds)}
            return JSONResponse({"text": text, "usage": used})


def _cues(segments: Sequence[Segment], point: str) -> str:
    return "".join(
        f"{number}\n{_time(each.start_s, point)} --> {_time(each.end_s, point)}\n{each.text}\n\n"
        for number, each in enumerate(segments, 1)
    )


def _time(seconds: float, point: str) -> str:
    return stamp(seconds).replace(",", point)


def _verbose(text: str, segments: Sequence[Segment], seconds: float) -> dict[str, Any]:
    return {
        "task": "transcribe",
        "language": segments[0].language if segments else "",
        "duration": round(seconds, 3),
        "text": text,
        "segments": [
            {
                "id": number,
                "seek": 0,
                "start": round(segment.start_s, 3),
                "end": round(segment.end_s, 3),
                "text": segment.text,
                "tokens": [],
                "temperature": 0.0,
                "avg_logprob": 0.0,
                "compression_ratio": 1.0,
                "no_speech_prob": 0.0,
            }
            for number, segment in enumerate(segments)
        ],
    }
