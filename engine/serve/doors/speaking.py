"""POST /v1/audio/speech as OpenAI's clients know it, and what they do not know yet: the speech has
an id (X-Speech-Id), and its rate can be changed while it is spoken.

Invariant: the answer begins with the first frame, so everything that is wrong with a request is
answered with an error, never with a sound that breaks off.
"""

import base64
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Send

from engine.serve.doors.encoding import Encoder, Format, media_type
from engine.serve.doors.requests import (
    Fields,
    LeadMs,
    Paced,
    Refusal,
    Text,
    VoiceName,
    check_model,
    checked,
    read_object,
    server_sent,
)
from engine.serve.service import Service
from engine.serve.speech import Speech, SpeechFrame

# What clients of OpenAI's servers ask for; two of these names retire there.
MODELS: Final = ("rubato", "gpt-4o-mini-tts", "tts-1", "tts-1-hd")


class _Request(Paced):
    input: Text = ""
    model: Text = MODELS[0]
    voice: VoiceName = ""
    response_format: Format = "mp3"
    stream_format: Literal["audio", "sse"] = "audio"
    lead_ms: LeadMs | None = None


async def speak(request: Request) -> Response:
    """Speak a text."""
    service: Service = request.app.state.service
    asked = checked(_Request, read_object(await request.body()))
    check_model(asked.model, MODELS)
    speech = service.speech(asked.voice, asked.target(service.own_pace))
    speech.write(asked.input)
    speech.end()
    frames = speech.frames(asked.lead_ms)
    first = await anext(frames, None)
    if first is None:
        raise Refusal("There is nothing to say in this text.", field="input")
    media = media_type(asked.response_format)
    sound = _encoded(asked.response_format, first, frames)
    if asked.stream_format == "sse":
        media, sound = "text/event-stream", server_sent(_events(sound, speech))
    headers = {"X-Speech-Id": speech.id, "Cache-Control": "no-store"}
    answer = _Sound(sound, media_type=media, headers=headers)
    answer.frames = frames
    return answer


class _Sound(StreamingResponse):
    """Lets go of the utterance however it ends."""

    frames: AsyncGenerator[SpeechFrame, None]

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self.frames):
            await super().stream_response(send)


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
    used, made = len(speech.text.split()), speech.given_ms // 80  # words, and frames of sound
    usage = {"input_tokens": used, "output_tokens": made, "total_tokens": used + made}
    yield {"type": "speech.audio.done", "usage": usage}


async def running(request: Request) -> Response:
    """Show speech that is running, change its rate, or end it."""
    service: Service = request.app.state.service
    key = request.path_params["key"]
    speech = service.speeches.get(key)
    if speech is None and not key.startswith(service.name):
        raise Refusal(
            "Another engine of this server speaks it, and cannot be reached from here.",
            status=409,
            hint="Use the WebSocket /v1/audio/speech/stream: it stays with its engine.",
        )
    if speech is None:
        raise Refusal("No speech with this id is being spoken.", status=404)
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
    """List the voices."""
    names = await request.app.state.service.voices()
    return JSONResponse({"voices": [{"id": name, "name": name} for name in names]})
