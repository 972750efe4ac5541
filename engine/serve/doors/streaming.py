"""Text streamed in and speech streamed out over a WebSocket, in the events of vLLM-Omni, and two
more: session.update changes the rate at any moment, and a word event says of each word where in
the sound it begins.

    in   session.config {voice, response_format, speed | rate, lead_ms}
         input.text {text}, input.done, input.cancel, session.update {speed | rate}
    out  audio.start, sound as binary messages, word {text, start, end, at_ms}, audio.done,
         session.done, session.updated, error

Invariant: all text up to input.done is one utterance; another may follow on the connection.
"""

import asyncio
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, Final, Literal

from engine.errors import EngineError
from engine.serve.doors.encoding import Encoder, Format
from engine.serve.doors.requests import EventEndpoint, LeadMs, Paced, Text, VoiceName
from engine.serve.speech import LEAD_MS, SAMPLE_RATE, Speech

_FIRST: Final = {"sentence_index": 0}  # there is one, however many sentences it has


class _Event(Paced):
    """One of a client's; which fields count depends on its type."""

    type: Literal["session.config", "session.update", "input.text", "input.done", "input.cancel"]
    voice: VoiceName = ""
    response_format: Format | None = None  # None = as before
    lead_ms: LeadMs = LEAD_MS
    text: Text = ""


class Stream(EventEndpoint[_Event]):
    """One connection."""

    kind = _Event

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._config = _Event(type="session.config")
        self._format: Format = "pcm"
        self._rate: float | None = None
        self._speech: Speech | None = None  # None = nothing was written yet
        self._task: asyncio.Task[None] | None = None  # speaks it

    async def take(self, event: _Event) -> None:
        match event.type:
            case "session.config":
                self._config = event
                self._format = event.response_format or self._format
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
            case "input.cancel" if self._task is not None:
                self._task.cancel()
                await asyncio.wait([self._task])

    def _spoken(self) -> Speech:
        """What is being spoken, or will be."""
        if self._speech is None or self._task is None or self._task.done():
            longest = self.service.limits.streamed_text
            self._speech = self.service.speech(self._config.voice, self._rate, longest=longest)
            self._task = self.tasks.create_task(self._speak(self._speech))
        return self._speech

    async def _speak(self, speech: Speech) -> None:
        about = {"format": self._format, "sample_rate": SAMPLE_RATE, "id": speech.id}
        try:
            async with aclosing(speech.frames(self._config.lead_ms)) as frames:
                frame = await anext(frames, None)
                made = Encoder(self._format)
                await self.tell("audio.start", **_FIRST, sentence_text="", **about)
                while frame is not None:
                    await self._send(made.push(frame.pcm))
                    for word in frame.words:
                        await self.tell("word", **asdict(word))
                    frame = await anext(frames, None)
                await self._send(made.end())
            await self.tell("audio.done", **_FIRST, audio_ms=speech.given_ms)
            await self.tell("session.done", total_sentences=1)
        except EngineError as error:
            await self.refuse(error)

    async def _send(self, sound: bytes) -> None:
        if sound:
            await self.socket.send_bytes(sound)
