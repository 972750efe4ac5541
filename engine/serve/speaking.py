"""POST /v1/audio/speech as OpenAI's clients know it, and what they do not know yet: the speech has
an id (X-Speech-Id), and its rate can be changed while it is spoken.

Invariant: the answer begins with the first frame, so everything that is wrong with a request is
told as an error, never as a sound that breaks off.
"""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Send

from engine.errors import EngineError
from engine.serve.answers import (
    BadField,
    Fields,
    NotFound,
    check_model,
    choice_of,
    fault,
    number_of,
    read_fields,
    text_of,
)
from engine.serve.encoding import FORMATS, encoder, media_type
from engine.serve.service import Service, Wish
from engine.serve.speech import Speech, SpeechFrame
from engine.settings import FASTEST, SLOWEST

SLOWEST_SPEED, FASTEST_SPEED = 0.25, 4.0
LONGEST_LEAD_MS: Final = 60_000
# What clients of OpenAI's servers ask for; two of these names retire there.
MODELS: Final = ("rubato", "gpt-4o-mini-tts", "tts-1", "tts-1-hd")


def routes() -> list[Route]:
    return [
        Route("/v1/audio/speech", _speak, methods=["POST"]),
        Route("/v1/audio/speech/{key}", _change, methods=["PATCH"]),
        Route("/v1/audio/speech/{key}", _stop, methods=["DELETE"]),
        Route("/v1/audio/speech/{key}", _show, methods=["GET"]),
        Route("/v1/audio/voices", _voices),
    ]


def rate_of(fields: Fields, own_pace: float) -> float | None:
    """The rate (SPS) that a request asks for: `rate` as it is, or `speed` times the voice's own;
    None = its own. BadField for what is no speed or rate.
    """
    rate = number_of(fields, "rate", SLOWEST, FASTEST)
    speed = number_of(fields, "speed", SLOWEST_SPEED, FASTEST_SPEED)
    if rate is not None or speed in (None, 1.0):
        return rate
    return min(max(speed * own_pace, SLOWEST), FASTEST)


def voice_of(fields: Fields) -> str:
    """A voice is given by its name, or as an object with its id."""
    voice = fields.get("voice")
    return text_of(voice, "id") if isinstance(voice, dict) else text_of(fields, "voice")


async def _speak(request: Request) -> Response:
    service: Service = request.app.state.service
    fields = await read_fields(request)
    check_model(text_of(fields, "model", MODELS[0]), MODELS)
    text = text_of(fields, "input")
    if not text.strip():
        raise BadField("input", "There is nothing to say in this text.")
    name = choice_of(fields, "response_format", FORMATS, "mp3")
    events = choice_of(fields, "stream_format", ("audio", "sse"), "audio") == "sse"
    lead_ms = number_of(fields, "lead_ms", 0, LONGEST_LEAD_MS)
    wish = Wish(voice_of(fields), rate_of(fields, service.own_pace))
    async with AsyncExitStack() as stack:
        speech = await stack.enter_async_context(service.speak(wish))
        speech.write(text)
        speech.end()
        frames = speech.frames(None if lead_ms is None else round(lead_ms))
        first = await anext(frames, None)
        if first is None:
            raise BadField("input", "There is nothing to say in this text.")
        sound = _encoded(name, _from(first, frames))
        body = _events(sound, speech, text) if events else sound
        kept = stack.pop_all()  # until the last frame was sent, or the client has gone
    media = "text/event-stream" if events else media_type(name)
    headers = {"X-Speech-Id": speech.id, "Cache-Control": "no-store"}
    return _Stream(kept, body, media, headers)


class _Stream(StreamingResponse):
    """Lets go of the utterance however it ends."""

    def __init__(
        self,
        kept: AsyncExitStack,
        body: AsyncIterator[bytes],
        media: str,
        headers: dict[str, str],
    ) -> None:
        super().__init__(body, media_type=media, headers=headers)
        self._kept = kept

    async def stream_response(self, send: Send) -> None:
        async with self._kept:
            await super().stream_response(send)


async def _from(
    first: SpeechFrame, frames: AsyncIterator[SpeechFrame]
) -> AsyncIterator[SpeechFrame]:
    yield first
    async for frame in frames:
        yield frame


async def _encoded(name: str, frames: AsyncIterator[SpeechFrame]) -> AsyncIterator[bytes]:
    made = encoder(name)
    async for frame in frames:
        if data := made.push(frame.pcm):
            yield data
    yield made.end()


async def _events(sound: AsyncIterator[bytes], speech: Speech, text: str) -> AsyncIterator[bytes]:
    try:
        async for data in sound:
            audio = base64.b64encode(data).decode()
            yield _event({"type": "speech.audio.delta", "audio": audio})
    except EngineError as error:
        yield _event({"type": "error", "error": fault(error)})
        return
    used, made = len(text.split()), speech.given_ms // 80  # words, and frames of sound
    usage = {"input_tokens": used, "output_tokens": made, "total_tokens": used + made}
    yield _event({"type": "speech.audio.done", "usage": usage})


def _event(value: Fields) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


async def _change(request: Request) -> Response:
    speech = _running(request)
    fields = await read_fields(request)
    if fields.get("rate") is None and fields.get("speed") is None:
        raise BadField("rate", "Give a rate or a speed.")
    speech.rate = rate_of(fields, request.app.state.service.own_pace)
    return _state(speech)


async def _stop(request: Request) -> Response:
    speech = _running(request)
    speech.stop()
    return _state(speech)


async def _show(request: Request) -> Response:
    return _state(_running(request))


def _running(request: Request) -> Speech:
    service: Service = request.app.state.service
    speech = service.speech(request.path_params["key"])
    if speech is None:
        raise NotFound("No speech with this id is being spoken.")
    return speech


def _state(speech: Speech) -> Response:
    """Where it is: sound given out, and how many words of it."""
    state = {"id": speech.id, "object": "speech", "rate": speech.rate}
    return JSONResponse({**state, "audio_ms": speech.given_ms, "words": len(speech.words)})


async def _voices(request: Request) -> Response:
    service: Service = request.app.state.service
    names = await service.voices()
    return JSONResponse({"voices": [{"id": name, "name": name} for name in names]})
