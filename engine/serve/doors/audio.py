"""Everything under /v1/audio: speech of a complete or a streamed text, and transcripts of
recordings.

Speech over HTTP follows OpenAI's interface, with two additions: it has an id (X-Speech-Id), and its
rate can be changed while it is spoken. The response begins with the first frame, so an invalid
request always gets an error, never a sound that breaks off. The WebSocket has the events of
vLLM-Omni, and two more: session.update changes the rate at any time, and a word event gives the
start of each word in the sound.

    in   session.config {voice, response_format, speed | rate, lead_ms}
         input.text {text}, input.done, input.cancel, session.update {speed | rate}
    out  audio.start, sound as binary messages, word {text, start, end, at_ms}, audio.done,
         session.done, session.updated, session.cancelled {audio_ms}, error

All text up to input.done is one utterance; another may follow on the connection. An utterance ends
with session.done, with error if it failed, or with session.cancelled if it was stopped early, which
also answers every input.cancel.

Invariant: a recording is decoded in the same bounded process as a file dropped on the window, from
a private file of this request that is deleted at its end.
"""

import asyncio
import base64
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ConfigDict
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from engine.errors import Cancelled, EngineError
from engine.serve.doors.encoding import Encoder, Format, media_type
from engine.serve.doors.requests import (
    EventEndpoint,
    Fields,
    LeadMs,
    Paced,
    Refusal,
    Text,
    VoiceName,
    Wire,
    checked,
    read_object,
    server_sent,
    while_connected,
)
from engine.serve.models import RecogniserThread, Recording, Segment
from engine.serve.service import LEAD_MS, SAMPLE_RATE, Service, Speech, SpeechFrame

# Model names that OpenAI's clients use, some of which are retired there: for speech, for
# transcripts.
_VOICES: Final = ("rubato", "gpt-4o-mini-tts", "tts-1", "tts-1-hd")
_EARS: Final = ("rubato", "whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")
_FIRST: Final = {"sentence_index": 0}  # always one, however many sentences it has
_GRANULARITIES: Final = "timestamp_granularities[]"
_MOST_FIELDS: Final = 20
_UNKNOWN: Final = {  # expected by clients, but not provided by this recogniser
    "seek": 0,
    "tokens": [],
    "temperature": 0.0,
    "avg_logprob": 0.0,
    "compression_ratio": 1.0,
    "no_speech_prob": 0.0,
}


class _Request(Paced):
    input: Text = ""
    model: Text = _VOICES[0]
    voice: VoiceName = ""
    response_format: Format = "mp3"
    stream_format: Literal["audio", "sse"] = "audio"
    lead_ms: LeadMs | None = None


async def speak(request: Request) -> Response:
    """Speak a text."""
    service: Service = request.app.state.service
    asked = checked(_Request, read_object(await request.body()))
    _check_model(asked.model, _VOICES)
    speech = service.speech(asked.voice, asked.target(service.own_pace))
    speech.write(asked.input)
    speech.end()
    async with AsyncExitStack() as stack:
        frames = await stack.enter_async_context(aclosing(speech.frames(asked.lead_ms)))
        first = await while_connected(request, anext(frames, None))
        if first is None:
            raise Refusal("This text has no words to speak.", field="input")
        media = media_type(asked.response_format)
        sound = _encoded(asked.response_format, first, frames)
        if asked.stream_format == "sse":
            media, sound = "text/event-stream", server_sent(_events(sound, speech))
        headers = {"X-Speech-Id": speech.id, "Cache-Control": "no-store"}
        answer = _ClosingResponse(sound, media_type=media, headers=headers)
        return answer.closing(stack.pop_all())


class _ClosingResponse(StreamingResponse):
    """A response that always closes what it needs at its end."""

    def closing(self, needs: AsyncExitStack) -> Response:
        self.needs = needs
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.needs:
            await super().__call__(scope, receive, send)


async def _encoded(
    name: Format, first: SpeechFrame, frames: AsyncIterator[SpeechFrame]
) -> AsyncIterator[bytes]:
    made = Encoder(name)
    yield made.push(first.pcm)
    async for frame in frames:
        yield made.push(frame.pcm)
    yield made.end()


async def _events(sound: AsyncIterator[bytes], speech: Speech) -> AsyncIterator[Fields]:
    async for data in sound:
        if data:
            yield {"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()}
    if speech.stopped:
        raise Cancelled("The speech was stopped by a request.")
    used, made = len(speech.text.split()), speech.given_ms // 80  # words, and frames of sound
    usage = {"input_tokens": used, "output_tokens": made, "total_tokens": used + made}
    yield {"type": "speech.audio.done", "usage": usage}


async def running(request: Request) -> Response:
    """Show speech that is running, change its rate, or end it."""
    service: Service = request.app.state.service
    speech = service.speeches.get(request.path_params["key"])
    if speech is None:
        raise Refusal(
            "No running speech has this id.",
            status=404,
            hint="With several engines, use the WebSocket /v1/audio/speech/stream.",
        )
    if request.method == "PATCH":
        asked = checked(Paced, read_object(await request.body()))
        if asked.rate is None and asked.speed is None:
            raise Refusal("Give a rate or a speed.", field="rate")
        speech.rate = asked.target(service.own_pace)
    elif request.method == "DELETE":
        speech.stop()
    state = {"id": speech.id, "object": "speech", "rate": speech.rate}
    return JSONResponse({**state, "audio_ms": speech.given_ms, "words": len(speech.words)})


async def voices(request: Request) -> Response:
    """List the voices, with the codes of their languages."""
    voices = await request.app.state.service.voices()
    listed = [{"id": name, "name": name, "language": code} for name, code in voices.items()]
    return JSONResponse({"voices": listed})


class _Event(Paced):
    """A client's event; which fields count depends on its type."""

    type: Literal["session.config", "session.update", "input.text", "input.done", "input.cancel"]
    voice: VoiceName = ""
    response_format: Format = "pcm"
    lead_ms: LeadMs = LEAD_MS
    text: Text = ""


class Stream(EventEndpoint[_Event]):
    """One connection."""

    kind = _Event

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._config = _Event(type="session.config")
        self._rate: float | None = None
        self._speech: Speech | None = None  # None = nothing was written yet
        self._task: asyncio.Task[None] | None = None  # speaks it

    async def take(self, event: _Event) -> None:
        match event.type:
            case "session.config":
                self._config = event
                self._rate = event.target(self.service.own_pace)
            case "session.update":
                self._rate = event.target(self.service.own_pace)
                if self._speech is not None:
                    self._speech.rate = self._rate
                await self.tell("session.updated", rate=self._rate)
            case "input.text":
                self._spoken().write(event.text)
            case "input.done":
                self._spoken().end()
            case "input.cancel":
                if self._task is not None:
                    self._task.cancel()
                    await asyncio.wait([self._task])
                await self._report_cancelled()

    async def _report_cancelled(self) -> None:
        audio_ms = 0 if self._speech is None else self._speech.given_ms
        await self.tell("session.cancelled", audio_ms=audio_ms)

    def _spoken(self) -> Speech:
        """Return the running or next utterance."""
        if self._speech is None or self._task is None or self._task.done():
            self._speech = self.service.speech(self._config.voice, self._rate, streamed=True)
            self._task = self.tasks.create_task(self._speak(self._speech))
        return self._speech

    async def _speak(self, speech: Speech) -> None:
        config, made = self._config, Encoder(self._config.response_format)
        about = {"format": config.response_format, "sample_rate": SAMPLE_RATE, "id": speech.id}
        try:
            async with aclosing(speech.frames(config.lead_ms)) as frames:
                frame = await anext(frames, None)
                await self.tell("audio.start", **_FIRST, sentence_text="", **about)
                while frame is not None:
                    await self._send(made.push(frame.pcm))
                    for word in frame.words:
                        await self.tell("word", **asdict(word))
                    frame = await anext(frames, None)
                await self._send(made.end())
            if speech.stopped:
                await self._report_cancelled()
                return
            await self.tell("audio.done", **_FIRST, audio_ms=speech.given_ms)
            await self.tell("session.done", total_sentences=1)
        except EngineError as error:
            await self.refuse(error)

    async def _send(self, sound: bytes) -> None:
        if sound:
            await self.socket.send_bytes(sound)


class _Form(Wire):
    model_config = ConfigDict(arbitrary_types_allowed=True, strict=True)

    file: UploadFile
    model: Text = _EARS[0]
    response_format: Literal["json", "text", "srt", "verbose_json", "vtt"] = "json"
    language: Text = ""
    stream: Text = ""


async def transcribe(request: Request) -> Response:
    """Transcribe a recording. If the client hangs up, the work ends after the current segment."""
    ears: RecogniserThread = request.app.state.service.ears
    async with AsyncExitStack() as stack:
        stack.enter_context(ears.admitted())
        form, recording = await stack.enter_async_context(_save_upload(request))
        segments = await stack.enter_async_context(aclosing(ears.recording(recording)))
        if form.stream not in ("true", "True", "1"):
            heard = await while_connected(request, _collect(segments))
            return _answer(form.response_format, heard, recording.seconds)
        first = await while_connected(request, anext(segments, None))
        events = server_sent(_transcript_events(first, segments))
        return _ClosingResponse(events, media_type="text/event-stream").closing(stack.pop_all())


@asynccontextmanager
async def _save_upload(request: Request) -> AsyncIterator[tuple[_Form, Recording]]:
    """Yield the form of a request, and its recording in a temporary file."""
    with tempfile.TemporaryDirectory(prefix="rubato-") as folder:
        path = Path(folder, "recording")  # whatever the client calls it
        async with request.form(max_files=1, max_fields=_MOST_FIELDS) as sent:
            if "word" in sent.getlist(_GRANULARITIES):
                raise Refusal(
                    "Times are available for segments, not for words.", field=_GRANULARITIES
                )
            form = checked(_Form, dict(sent))
            _check_model(form.model, _EARS)
            with path.open("wb") as file:
                shutil.copyfileobj(form.file.file, file)
        yield form, Recording(path, form.language)


async def _collect(segments: AsyncIterator[Segment]) -> list[Segment]:
    return [segment async for segment in segments]


async def _transcript_events(
    first: Segment | None, rest: AsyncIterator[Segment]
) -> AsyncIterator[Fields]:
    text, segment = "", first
    while segment is not None:
        delta = f" {segment.text}" if text else segment.text
        text += delta
        yield {"type": "transcript.text.delta", "delta": delta}
        segment = await anext(rest, None)
    yield {"type": "transcript.text.done", "text": text}


def _answer(name: str, segments: Sequence[Segment], seconds: float) -> Response:
    text = " ".join(segment.text for segment in segments)
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
        minutes, rest = divmod(round(seconds * 1000), 60_000)
        return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}{point}{rest % 1000:03}"

    return "".join(
        f"{number}\n{time(each.start_s)} --> {time(each.end_s)}\n{each.text}\n\n"
        for number, each in enumerate(segments, 1)
    )


def _shown(number: int, segment: Segment) -> Fields:
    times = {"start": round(segment.start_s, 3), "end": round(segment.end_s, 3)}
    return {**_UNKNOWN, "id": number, "text": segment.text, **times}


async def models(request: Request) -> Response:
    """List the supported model names."""
    about = {"object": "model", "created": 0, "owned_by": "rubato"}
    names = dict.fromkeys((*_VOICES, *_EARS))
    return JSONResponse({"object": "list", "data": [{"id": name, **about} for name in names]})


def _check_model(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise Refusal("There is no model called '{name}' here.", status=404, name=name[:80])
