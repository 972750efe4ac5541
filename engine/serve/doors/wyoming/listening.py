"""Speech to text and the wake phrase: a client says which it wants, then sends sound.

    client  transcribe, audio-start, audio-chunk .., audio-stop
    server  transcript-start, transcript-chunk .., transcript, transcript-stop
    client  detect, audio-start, audio-chunk .., (audio-stop)
    server  detection, or not-detected behind audio-stop

Invariant: sound that nobody asked to be listened to is thrown away; of an utterance no more is held
than LONGEST_S.
"""

from typing import Any, Final, Protocol

import numpy as np
from wyoming.asr import Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.event import Event
from wyoming.wake import Detection, NotDetected

from engine.asr.base import SAMPLE_RATE, KeywordSpotter
from engine.audio.pcm import Pcm, Resampler
from engine.errors import InvalidInput
from engine.serve.doors.answers import number_of, text_of
from engine.serve.doors.wyoming.client import Client
from engine.serve.doors.wyoming.waking import Wake
from engine.serve.service import Service

LONGEST_S: Final = 120.0
# Bytes of a sample -> its type, and what full scale is.
_WIDTHS: Final = {2: ("<i2", 2**15), 4: ("<i4", 2**31)}


class Sound:
    """What a client sends between audio-start and audio-stop, as samples at 16 kHz."""

    def __init__(self) -> None:
        self._format = (0, 0, 0)
        self._resampler = Resampler(SAMPLE_RATE, SAMPLE_RATE)

    def push(self, event: Event) -> Pcm:
        """Samples [S] that an audio-chunk made ready. InvalidInput for a form of sound that is not
        understood.
        """
        form = _form(event.data)
        if form != self._format:
            self._format, self._resampler = form, Resampler(form[0], SAMPLE_RATE)
        _, width, channels = form
        kind, scale = _WIDTHS[width]
        payload = event.payload or b""
        whole = len(payload) // (width * channels) * width * channels
        samples = np.frombuffer(payload[:whole], kind).astype(np.float32) / scale
        return self._resampler.push(samples.reshape(-1, channels).mean(axis=1))

    def end(self) -> Pcm:
        return self._resampler.end()


def _form(data: dict[str, Any]) -> tuple[int, int, int]:
    """Rate (Hz), width (bytes) and channels."""
    rate = number_of(data, "rate", 4_000, 192_000) or SAMPLE_RATE
    width = int(number_of(data, "width", 1, 8) or 2)
    if width not in _WIDTHS:
        raise InvalidInput("Samples have 2 or 4 bytes here, not {count}.", count=width)
    return int(rate), width, int(number_of(data, "channels", 1, 8) or 1)


class Listening:
    """The ears, for one client."""

    def __init__(self, service: Service, wake: Wake, client: Client) -> None:
        self._service = service
        self._wake = wake
        self._client = client
        self._sound = Sound()
        self._task: _Task | None = None  # None = nothing was asked for

    async def take(self, event: Event) -> None:
        """One of the client's events."""
        match event.type:
            case "transcribe":
                self.stop()
                language = text_of(event.data, "language")
                self._task = _Transcription(self._service, self._client, language)
            case "detect":
                self.stop()
                self._task = _Detection(self._wake, self._client, event.data.get("names"))
            case "audio-start":
                self._sound = Sound()
            case "audio-chunk" if self._task is not None:
                timestamp = number_of(event.data, "timestamp", 0, 2**53)
                await self._task.push(self._sound.push(event), timestamp)
            case "audio-stop" if self._task is not None:
                await self._task.push(self._sound.end(), None)
                await self._task.end()
                self.stop()

    def stop(self) -> None:
        """Forget what was asked for."""
        if self._task is not None:
            self._task.close()
            self._task = None


class _Task(Protocol):
    """What is done with the sound."""

    async def push(self, pcm: Pcm, timestamp: float | None) -> None:
        """More of it [S], from `timestamp` (ms of the client's; None = it gave none) on."""
        ...

    async def end(self) -> None:
        """There is no more."""
        ...

    def close(self) -> None: ...


class _Transcription:
    def __init__(self, service: Service, client: Client, language: str) -> None:
        self._service = service
        self._client = client
        self._language = language
        self._heard: list[Pcm] = []
        self._samples = 0

    async def push(self, pcm: Pcm, timestamp: float | None) -> None:
        self._samples += len(pcm)
        if self._samples > LONGEST_S * SAMPLE_RATE:
            raise InvalidInput("Only {seconds} seconds are listened to.", seconds=f"{LONGEST_S:g}")
        self._heard.append(pcm)

    def close(self) -> None:
        self._heard.clear()

    async def end(self) -> None:
        ears, send = self._service.ears, self._client.send
        pcm = np.concatenate([np.zeros(0, np.float32), *self._heard])
        spoken = self._language or self._service.settings.recogniser.language
        texts: list[str] = []
        await send(TranscriptStart(language=spoken))
        async for segment in ears.segments(pcm, self._language):
            text = f" {segment.text}" if texts else segment.text
            texts.append(text)
            await send(TranscriptChunk(text))
        await send(Transcript("".join(texts), language=spoken))
        await send(TranscriptStop())


class _Detection:
    """Listens for the person's own phrase; the names of others are never heard."""

    def __init__(self, wake: Wake, client: Client, names: Any) -> None:
        self._wake = wake
        self._client = client
        self._others = isinstance(names, list) and bool(names) and wake.phrase not in names
        self._heard = False
        self._spotter: KeywordSpotter | None = None  # None = no sound came yet, or it is over

    async def push(self, pcm: Pcm, timestamp: float | None) -> None:
        if self._others or self._heard:
            return
        if self._spotter is None:
            self._spotter = await self._wake.open()
        self._heard = await self._wake.hears(self._spotter, pcm)
        if self._heard:
            self.close()
            at_ms = None if timestamp is None else int(timestamp)
            await self._client.send(Detection(self._wake.phrase, at_ms))

    async def end(self) -> None:
        if not self._heard:
            await self._client.send(NotDetected())

    def close(self) -> None:
        if self._spotter is not None:
            self._spotter = None
            self._wake.release()
