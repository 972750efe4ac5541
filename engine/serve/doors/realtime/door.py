"""The WebSocket /v1/realtime: a client's events, one after the other.

Invariant: at most one answer is being given. What goes wrong with an event is told with the event's
own id, and the session goes on.
"""

import asyncio
import base64
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import BeforeValidator, Field
from starlette.websockets import WebSocket

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.audio.pcm import Pcm
from engine.audio.vad import SpeechEnded, SpeechEvent, SpeechPaused, SpeechStarted
from engine.errors import EngineError
from engine.serve.doors.realtime.conversation import (
    Call,
    CallOutput,
    Conversation,
    Item,
    Message,
    Part,
    new_key,
)
from engine.serve.doors.realtime.microphone import SLICE, ClientMicrophone
from engine.serve.doors.realtime.response import Answer
from engine.serve.doors.realtime.session import Session
from engine.serve.doors.requests import BadField, Fields, NotFound, Refused, Text, Wire, fault
from engine.serve.doors.sockets import Events, meet
from engine.serve.service import Service

log = logging.getLogger(__name__)

_SHORTEST: Final = EAR_RATE // 10  # samples that can be committed
_LONGEST_MS: Final = 3_600_000


def _decoded(audio: Any) -> Any:
    """ValueError for anything but samples of 16 bits in base64."""
    if not isinstance(audio, str):
        return audio
    try:
        sound = base64.b64decode(audio, validate=True)
    except ValueError as error:
        raise ValueError("it has to be base64") from error
    if len(sound) % 2:
        raise ValueError("it has to be samples of 16 bits")
    return sound


class _Event(Wire):
    """One of a client's; which fields count depends on its type."""

    type: Literal[
        "session.update",
        "input_audio_buffer.append",
        "input_audio_buffer.commit",
        "input_audio_buffer.clear",
        "conversation.item.create",
        "conversation.item.retrieve",
        "conversation.item.truncate",
        "conversation.item.delete",
        "response.create",
        "response.cancel",
        "output_audio_buffer.clear",
    ]
    session: dict[str, Any] = Field(default_factory=dict)
    response: dict[str, Any] = Field(default_factory=dict)
    audio: Annotated[bytes, BeforeValidator(_decoded)] = b""
    item: Message | Call | CallOutput | None = Field(None, discriminator="type")
    previous_item_id: Text | None = None
    item_id: Text = ""
    audio_end_ms: float = Field(0, ge=0, le=_LONGEST_MS)


async def converse(socket: WebSocket) -> None:
    """Meet a client."""
    await meet(socket, _Event, _Client)


class _Client:
    """One client's conversation."""

    def __init__(self, service: Service, events: Events) -> None:
        self._service = service
        self._events = events
        self._set = Session(id=new_key("sess"))
        self._conversation = Conversation()
        self._microphone = ClientMicrophone()
        self._answer: Answer | None = None  # being given; None = none is
        self._answering: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None  # the newest utterance
        self._drafting: asyncio.Task[None] | None = None
        self._next = new_key("item")  # of what is being said

    async def begin(self) -> None:
        self._listen()
        await self._events.tell("session.created", session=self._set.model_dump())

    async def leave(self) -> None:
        """The client has gone."""
        tasks = [task for task in (self._drafting, self._hearing, self._answering) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def take(self, event: _Event) -> None:
        match event.type:
            case "session.update":
                await self._update(event.session)
            case "input_audio_buffer.append":
                pcm = np.frombuffer(event.audio, "<i2").astype(np.float32) / np.float32(32_768)
                await self._append(pcm)
            case "input_audio_buffer.commit":
                await self._commit()
            case "input_audio_buffer.clear":
                self._microphone.clear()
                await self._events.tell("input_audio_buffer.cleared")
            case "conversation.item.create":
                await self._create(event.item, event.previous_item_id)
            case "conversation.item.retrieve":
                await self._retrieve(event.item_id)
            case "conversation.item.truncate":
                await self._truncate(event.item_id, round(event.audio_end_ms))
            case "conversation.item.delete":
                self._conversation.remove(event.item_id)
                await self._events.tell("conversation.item.deleted", item_id=event.item_id)
            case "response.create":
                await self._respond(event.response)
            case "response.cancel" | "output_audio_buffer.clear":
                await self._silence(event.type)

    async def _update(self, changes: Fields) -> None:
        self._set = await self._changed(changes)
        self._listen()
        if self._answer is not None:
            rate = self._set.audio.output.target(self._service.own_pace)
            self._answer.change_rate(rate)
        await self._events.tell("session.updated", session=self._set.model_dump())

    async def _changed(self, changes: Fields) -> Session:
        """InvalidInput also for an unknown voice: most clients would not notice it later, in a
        response that failed.
        """
        session = self._set.changed(changes)
        if (voice := session.audio.output.voice) != self._set.audio.output.voice:
            await self._service.check_voice(voice)
        return session

    def _listen(self) -> None:
        turns = self._set.audio.input.turn_detection
        self._microphone.listen(turns.patience() if turns else None)

    # ------------------------------------------------------------------ what is heard

    async def _append(self, pcm: Pcm) -> None:
        for at in range(0, len(pcm), SLICE):
            for shown in self._microphone.push(pcm[at : at + SLICE]):
                await self._hear(shown)
            await asyncio.sleep(0)  # others have their turn

    async def _hear(self, event: SpeechEvent) -> None:
        turns = self._set.audio.input.turn_detection
        place = {"item_id": self._next}
        at_ms = event.sample * 1000 // EAR_RATE
        match event:
            case SpeechStarted():
                kind = "input_audio_buffer.speech_started"
                await self._events.tell(kind, audio_start_ms=at_ms, **place)
                if turns and turns.interrupt_response:
                    await self._cancel("turn_detected")
            case SpeechPaused(sample) if turns and turns.semantic:
                if self._drafting is not None:
                    self._drafting.cancel()
                self._drafting = _task(self._draft(sample))
            case SpeechEnded():
                kind = "input_audio_buffer.speech_stopped"
                await self._events.tell(kind, audio_end_ms=at_ms, **place)
                await self._note(create=bool(turns and turns.create_response))

    async def _draft(self, pause: int) -> None:
        """How complete the words before a pause are says how long it is waited for more."""
        ears, heard = self._service.ears, self._microphone.heard()
        with suppress(EngineError):
            transcript = await ears.transcript(heard, self._language)
            judged = await ears.completeness(transcript.text)
            self._microphone.judge(pause, transcript, judged)

    @property
    def _language(self) -> str:
        transcription = self._set.audio.input.transcription
        return transcription.language if transcription else ""

    async def _commit(self) -> None:
        if len(self._microphone.heard()) < _SHORTEST:
            raise BadField("audio", "There is too little sound: give 100 ms or more.")
        await self._note(create=False)

    async def _note(self, *, create: bool) -> None:
        """What was said is an item; its words follow."""
        part = Part(type="input_audio", transcript="")
        item = Message(id=self._next, role="user", content=[part])
        self._next = new_key("item")
        before = self._conversation.add(item)
        place = {"item_id": item.id, "previous_item_id": before}
        await self._events.tell("input_audio_buffer.committed", **place)
        await self._tell_item(item, before)
        pcm = self._microphone.take()
        self._hearing = _task(self._understand(item, pcm, create=create))

    async def _understand(self, item: Message, pcm: Pcm, *, create: bool) -> None:
        place = {"item_id": item.id, "content_index": 0}
        kind = "conversation.item.input_audio_transcription"
        try:
            heard = (await self._service.ears.transcript(pcm, self._language)).text
        except EngineError as error:
            await self._events.tell(f"{kind}.failed", **place, error=fault(error))
            return
        item.content[0].said = heard
        if self._set.audio.input.transcription is not None:
            used = {"type": "duration", "seconds": round(len(pcm) / EAR_RATE, 2)}
            if heard:
                await self._events.tell(f"{kind}.delta", **place, delta=heard)
            await self._events.tell(f"{kind}.completed", **place, transcript=heard, usage=used)
        if create and heard and self._answer is None:
            self._start(self._set)

    # -------------------------------------------------------------------- the items

    async def _create(self, item: Item | None, after: str | None) -> None:
        if item is None:
            raise BadField("item", "Give an item.")
        await self._tell_item(item, self._conversation.add(item, after))

    async def _tell_item(self, item: Item, before: str | None) -> None:
        shown = item.shown()
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self._events.tell(kind, previous_item_id=before, item=shown)

    async def _retrieve(self, key: str) -> None:
        try:
            item = self._conversation.find(key)
        except NotFound as error:
            raise Refused("item_retrieve_invalid_item_id", error.message) from error
        await self._events.tell("conversation.item.retrieved", item=item.shown())

    async def _truncate(self, key: str, at_ms: int) -> None:
        item = self._conversation.find(key)
        if not isinstance(item, Message):
            raise BadField("item_id", "Only what was spoken can be truncated.")
        item.truncate(at_ms)
        place = {"item_id": key, "content_index": 0, "audio_end_ms": at_ms}
        await self._events.tell("conversation.item.truncated", **place)

    # ------------------------------------------------------------------- the answer

    async def _respond(self, changes: Fields) -> None:
        session = await self._changed(changes)
        if self._answer is None and self._hearing is not None:
            await asyncio.wait([self._hearing])  # it is an answer to what was said
        if self._answer is not None:  # what was said may be answered by now
            kind = "conversation_already_has_active_response"
            raise Refused(kind, "A response is in progress already.")
        self._start(session)

    def _start(self, session: Session) -> None:
        self._answer = Answer(self._service, self._events, self._conversation, session)
        self._answering = _task(self._run(self._answer))

    async def _run(self, answer: Answer) -> None:
        try:
            await answer.run()
        finally:
            self._answer = None

    async def _silence(self, kind: str) -> None:
        cancelled = await self._cancel("client_cancelled")
        if kind == "output_audio_buffer.clear":
            await self._events.tell("output_audio_buffer.cleared")
        elif not cancelled:
            raise Refused("response_cancel_not_active", "No response is in progress.")

    async def _cancel(self, why: str) -> bool:
        """End the answer; False when there is none."""
        answer, task = self._answer, self._answering
        if answer is None or task is None:
            return False
        answer.why = why
        await asyncio.sleep(0)  # it has begun, so that its end is told too
        task.cancel()
        await asyncio.wait([task])
        return True


def _task(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    task = asyncio.ensure_future(work)
    task.add_done_callback(_look)
    return task


def _look(task: asyncio.Task[None]) -> None:
    """A task that failed while it told so has nobody to tell any more."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.info("a task of a client ended kind=%s", type(error).__name__)
