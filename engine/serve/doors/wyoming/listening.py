"""Speech to text and the wake phrase: a client says which it wants, then sends sound.

    client  transcribe, audio-start, audio-chunk .., audio-stop
    server  transcript-start, transcript-chunk .., transcript, transcript-stop
    client  detect, audio-start, audio-chunk .., (audio-stop)
    server  detection, or not-detected behind audio-stop

Invariant: sound is thrown away unless the client asked for either; of an utterance no more is held
than LONGEST_S. Each client has a spotter of its own, and all of them belong to one thread.
"""

from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field
from wyoming.asr import Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.event import Event
from wyoming.wake import Detection, NotDetected

from engine.asr.base import SAMPLE_RATE, KeywordSpotter
from engine.audio.pcm import Pcm, Resampler
from engine.errors import Busy, InvalidInput
from engine.runtime.factories import Factories
from engine.serve.doors.requests import Text, Wire, checked
from engine.serve.doors.wyoming.client import Client
from engine.serve.model_thread import ModelThread
from engine.serve.service import Service
from engine.settings import WakeSettings

LONGEST_S: Final = 120.0
MOST: Final = 8  # clients that listen for the phrase at once


class _Chunk(Wire):
    """What an audio-chunk says of its payload; `timestamp` in ms of the client's."""

    rate: Annotated[int, Field(ge=4_000, le=192_000)] = SAMPLE_RATE
    width: Literal[2, 4] = 2
    channels: Annotated[int, Field(ge=1, le=8)] = 1
    timestamp: int | float | None = None


class _Wanted(Wire):
    """`names`: of phrases; none = the person's own, which is the only one that is ever heard."""

    type: Literal["transcribe", "detect"]
    language: Text = ""
    names: list[str] = Field(default_factory=list)


class _Nothing:
    """The spotters are the clients'; their thread has no model."""

    def close(self) -> None: ...


class Wake:
    """The wake phrase, for all clients that listen for it; stop() ends its thread."""

    def __init__(self, settings: WakeSettings, factories: Factories) -> None:
        self.phrase = settings.phrase
        self._settings = settings
        self._factories = factories
        # Not the ears' thread: a transcript takes seconds.
        self._thread = ModelThread("wake phrase of the server", _Nothing)
        self._taken = 0

    async def open(self) -> KeywordSpotter:
        """What listens for the phrase; release() follows. Busy when too many listen, ModelError
        where it cannot be listened for.
        """
        if self._taken >= MOST:
            raise Busy("All {count} places are taken.", count=MOST)
        self._taken += 1
        try:
            return await self._thread.call(lambda nothing: self._factories.spotter(self._settings))
        except BaseException:
            self.release()
            raise

    async def hears(self, spotter: KeywordSpotter, pcm: Pcm) -> bool:
        """Whether the phrase ended in these samples [S] at 16 kHz."""
        return await self._thread.call(lambda nothing: spotter.push(pcm)) is not None

    def release(self) -> None:
        self._taken -= 1

    def stop(self) -> bool:
        """False when its thread hangs."""
        return self._thread.stop()


class Listening:
    """The ears, for one client."""

    def __init__(self, service: Service, wake: Wake, client: Client) -> None:
        self._service = service
        self._wake = wake
        self._send = client.send
        self._wanted: _Wanted | None = None  # None = the client asked for nothing
        self._form = (0, 0, 0)  # of the sound: rate, bytes of a sample, channels
        self._resampler = Resampler(SAMPLE_RATE, SAMPLE_RATE)
        self._heard: list[Pcm] = []
        self._spotter: KeywordSpotter | None = None  # None = it does not listen for the phrase
        self._detected = False

    async def take(self, event: Event) -> None:
        """One of the client's events."""
        match event.type:
            case "transcribe" | "detect":
                self.stop()
                self._wanted = checked(_Wanted, {**event.data, "type": event.type})
            case "audio-start":
                self._form = (0, 0, 0)
            case "audio-chunk" if self._wanted is not None:
                chunk = checked(_Chunk, event.data)
                pcm = self._samples(chunk, event.payload or b"")
                await self._push(self._wanted, pcm, chunk.timestamp)
            case "audio-stop" if self._wanted is not None:
                await self._push(self._wanted, self._resampler.end(), None)
                await self._end(self._wanted)
                self.stop()

    def stop(self) -> None:
        """Forget what was asked for."""
        self._wanted, self._heard, self._detected = None, [], False
        if self._spotter is not None:
            self._spotter = None
            self._wake.release()

    def _samples(self, chunk: _Chunk, payload: bytes) -> Pcm:
        """Those that became ready [S] at 16 kHz."""
        form = (chunk.rate, chunk.width, chunk.channels)
        if form != self._form:
            self._form, self._resampler = form, Resampler(chunk.rate, SAMPLE_RATE)
        step = chunk.width * chunk.channels
        whole = payload[: len(payload) // step * step]
        scale = 2 ** (8 * chunk.width - 1)
        samples = np.frombuffer(whole, f"<i{chunk.width}").astype(np.float32) / scale
        return self._resampler.push(samples.reshape(-1, chunk.channels).mean(axis=1))

    async def _push(self, wanted: _Wanted, pcm: Pcm, timestamp: float | None) -> None:
        if wanted.type == "transcribe":
            if sum(map(len, self._heard)) + len(pcm) > LONGEST_S * SAMPLE_RATE:
                raise InvalidInput(
                    "Only {seconds} seconds are listened to.", seconds=f"{LONGEST_S:g}"
                )
            self._heard.append(pcm)
        elif not self._detected and (not wanted.names or self._wake.phrase in wanted.names):
            if self._spotter is None:
                self._spotter = await self._wake.open()
            self._detected = await self._wake.hears(self._spotter, pcm)
            if self._detected:
                at_ms = None if timestamp is None else int(timestamp)
                await self._send(Detection(self._wake.phrase, at_ms))

    async def _end(self, wanted: _Wanted) -> None:
        if wanted.type == "transcribe":
            await self._transcribe(wanted.language)
        elif not self._detected:
            await self._send(NotDetected())

    async def _transcribe(self, language: str) -> None:
        spoken = language or self._service.settings.recogniser.language
        pcm = np.concatenate([np.zeros(0, np.float32), *self._heard])
        whole = ""
        await self._send(TranscriptStart(language=spoken))
        async for segment in self._service.ears.segments(pcm, language):
            text = f" {segment.text}" if whole else segment.text
            whole += text
            await self._send(TranscriptChunk(text))
        await self._send(Transcript(whole, language=spoken))
        await self._send(TranscriptStop())
