"""The WebSocket /v1/realtime: a client's events, one after the other.

Invariant: at most one answer is being given. What goes wrong with an event is told with the event's
own id, and the session goes on.
"""

import asyncio
import base64
import binascii
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.audio.pcm import Pcm
from engine.audio.vad import SpeechEnded, SpeechEvent, SpeechPaused, SpeechStarted
from engine.errors import EngineError, InvalidInput
from engine.serve.doors.answers import (
    BadField,
    Fields,
    NotFound,
    Refused,
    fault,
    object_of,
    text_of,
)
from engine.serve.doors.realtime.configuration import Configuration, check_format, speaks, tools_of
from engine.serve.doors.realtime.conversation import (
    Conversation,
    Item,
    new_key,
    read_item,
    truncation,
)
from engine.serve.doors.realtime.microphone import SLICE, ClientMicrophone
from engine.serve.doors.realtime.response import Answer, Manner
from engine.serve.doors.sockets import Events
from engine.serve.doors.speaking import voice_of
from engine.serve.service import Service

log = logging.getLogger(__name__)

_SHORTEST: Final = EAR_RATE // 10  # samples that can be committed
_CLIENT: Final = "client_cancelled"


def routes() -> list[BaseRoute]:
    return [WebSocketRoute("/v1/realtime", _converse)]


async def _converse(socket: WebSocket) -> None:
    service: Service = socket.app.state.service
    events = Events(socket, service.limits)
    await events.accept()
    session = _Session(service, events)
    try:
        await session.begin()
        async for event in events.each(lambda: session.busy):
            try:
                await session.take(event)
            except EngineError as error:
                key = event.get("event_id")
                if not await events.note(error, event_id=key if isinstance(key, str) else None):
                    return
    except (WebSocketDisconnect, OSError):
        return
    finally:
        await session.leave()


class _Session:
    """One client's conversation."""

    def __init__(self, service: Service, events: Events) -> None:
        self._service = service
        self._events = events
        self._set = Configuration(new_key("sess"))
        self._conversation = Conversation()
        self._microphone = ClientMicrophone()
        self._answer: Answer | None = None  # being given; None = none is
        self._answering: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None  # the newest utterance
        self._interim_task: asyncio.Task[None] | None = None
        self._next = new_key("item")  # of what is being said

    @property
    def busy(self) -> bool:
        """Whether the client need not say anything for now."""
        understood = self._hearing is None or self._hearing.done()
        return self._answer is not None or not understood

    async def begin(self) -> None:
        self._listen()
        await self._events.tell("session.created", session=self._set.fields)

    async def leave(self) -> None:
        """The client has gone."""
        for task in (self._interim_task, self._hearing, self._answering):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task

    async def take(self, event: Fields) -> None:
        """InvalidInput for what cannot be done."""
        taken = _EVENTS.get(text_of(event, "type"))
        if taken is None:
            raise InvalidInput("There is no event '{kind}'.", kind=text_of(event, "type")[:40])
        await taken(self, event)

    # -------------------------------------------------------------------- the session

    async def _update(self, event: Fields) -> None:
        changes = object_of(event, "session")
        await self._check_voice(changes)
        self._set.update(changes)
        self._listen()
        if self._answer is not None:
            self._answer.change_rate(self._set.rate(self._service.own_pace))
        await self._events.tell("session.updated", session=self._set.fields)

    async def _check_voice(self, changes: Fields) -> None:
        """InvalidInput for a voice that there is not: most clients would not notice it later, in a
        response that failed.
        """
        if voice := voice_of(object_of(object_of(changes, "audio"), "output")):
            await self._service.check_voice(voice)

    def _listen(self) -> None:
        turns = self._set.turns
        self._microphone.listen(turns.patience if turns else None)

    # ------------------------------------------------------------------ what is heard

    async def _append(self, event: Fields) -> None:
        pcm = _decoded(text_of(event, "audio"))
        for at in range(0, len(pcm), SLICE):
            for shown in self._microphone.push(pcm[at : at + SLICE]):
                await self._hear(shown)
            await asyncio.sleep(0)  # others have their turn

    async def _commit_all(self, event: Fields) -> None:
        if len(self._microphone.heard()) < _SHORTEST:
            raise BadField("audio", "There is too little sound: give 100 ms or more.")
        await self._commit(create=False)

    async def _clear(self, event: Fields) -> None:
        self._microphone.clear()
        await self._events.tell("input_audio_buffer.cleared")

    async def _hear(self, event: SpeechEvent) -> None:
        turns = self._set.turns
        place = {"item_id": self._next}
        at_ms = event.sample * 1000 // EAR_RATE
        match event:
            case SpeechStarted():
                kind = "input_audio_buffer.speech_started"
                await self._events.tell(kind, audio_start_ms=at_ms, **place)
                if turns and turns.interrupts:
                    await self._cancel("turn_detected")
            case SpeechPaused(sample) if turns and turns.semantic:
                if self._interim_task is not None:
                    self._interim_task.cancel()
                self._interim_task = self._task(self._interim(sample))
            case SpeechEnded():
                kind = "input_audio_buffer.speech_stopped"
                await self._events.tell(kind, audio_end_ms=at_ms, **place)
                await self._commit(create=bool(turns and turns.creates_response))

    async def _interim(self, pause: int) -> None:
        """How complete the words before a pause are says how long it is waited for more."""
        ears, heard = self._service.ears, self._microphone.heard()
        with suppress(EngineError):
            transcript = await ears.transcript(heard, self._set.language)
            judged = await ears.completeness(transcript.text)
            self._microphone.judge(pause, transcript, judged)

    async def _commit(self, *, create: bool) -> None:
        """What was said is an item; its words follow."""
        item = Item(self._next, content="input_audio")
        self._next = new_key("item")
        before = self._conversation.add(item)
        place = {"previous_item_id": before}
        await self._events.tell("input_audio_buffer.committed", item_id=item.key, **place)
        await self._tell_item(item, before)
        pcm, previous = self._microphone.take(), self._hearing
        self._hearing = self._task(self._understand(item, pcm, previous, create=create))

    async def _understand(
        self, item: Item, pcm: Pcm, previous: asyncio.Task[None] | None, *, create: bool
    ) -> None:
        if previous is not None:
            await asyncio.wait([previous])
        place = {"item_id": item.key, "content_index": 0}
        kind = "conversation.item.input_audio_transcription"
        try:
            heard = await self._service.ears.transcript(pcm, self._set.language)
        except EngineError as error:
            await self._events.tell(f"{kind}.failed", **place, error=fault(error))
            return
        item.text = heard.text
        if self._set.transcribes:
            used = {"type": "duration", "seconds": round(len(pcm) / EAR_RATE, 2)}
            if heard.text:
                await self._events.tell(f"{kind}.delta", **place, delta=heard.text)
            await self._events.tell(f"{kind}.completed", **place, transcript=heard.text, usage=used)
        if create and heard.text and self._answer is None:
            await self._start({})

    # -------------------------------------------------------------------- the items

    async def _create(self, event: Fields) -> None:
        item = read_item(object_of(event, "item"))
        after = text_of(event, "previous_item_id") or None
        await self._tell_item(item, self._conversation.add(item, after))

    async def _tell_item(self, item: Item, before: str | None) -> None:
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self._events.tell(kind, previous_item_id=before, item=item.fields())

    async def _retrieve(self, event: Fields) -> None:
        key = text_of(event, "item_id")
        try:
            item = self._conversation.find(key)
        except NotFound as error:
            raise Refused("item_retrieve_invalid_item_id", error.message) from error
        await self._events.tell("conversation.item.retrieved", item=item.fields())

    async def _delete(self, event: Fields) -> None:
        key = text_of(event, "item_id")
        self._conversation.remove(key)
        await self._events.tell("conversation.item.deleted", item_id=key)

    async def _truncate(self, event: Fields) -> None:
        item = self._conversation.find(text_of(event, "item_id"))
        at_ms = truncation(event)
        item.truncate(at_ms)
        place = {"item_id": item.key, "content_index": 0, "audio_end_ms": at_ms}
        await self._events.tell("conversation.item.truncated", **place)

    # ------------------------------------------------------------------- the answer

    async def _respond(self, event: Fields) -> None:
        fields = object_of(event, "response")
        await self._check_voice(fields)
        if self._answer is None and self._hearing is not None:
            await asyncio.wait([self._hearing])  # it is an answer to what was said
        if self._answer is not None:  # what was said may be answered by now
            kind = "conversation_already_has_active_response"
            raise Refused(kind, "A response is in progress already.")
        await self._start(fields)

    async def _start(self, fields: Fields) -> None:
        self._answer = Answer(self._service, self._events, self._conversation, self._manner(fields))
        self._answering = self._task(self._run(self._answer))

    def _manner(self, fields: Fields) -> Manner:
        """The session's, but for what a response.create says of its own."""
        mine = self._set
        output = object_of(object_of(fields, "audio"), "output")
        check_format(output.get("format"))
        return Manner(
            instructions=text_of(fields, "instructions", mine.instructions),
            tools=tools_of(fields) if "tools" in fields else mine.tools,
            aloud=speaks(fields) if "output_modalities" in fields else mine.aloud,
            voice=voice_of(output) or mine.voice,
            rate=mine.rate(self._service.own_pace),
            lead_ms=mine.lead_ms,
        )

    async def _run(self, answer: Answer) -> None:
        try:
            await answer.run()
        finally:
            self._answer = None

    async def _cancel_response(self, event: Fields) -> None:
        if not await self._cancel(_CLIENT):
            raise Refused("response_cancel_not_active", "No response is in progress.")

    async def _silence(self, event: Fields) -> None:
        await self._cancel(_CLIENT)
        await self._events.tell("output_audio_buffer.cleared")

    async def _cancel(self, why: str) -> bool:
        """End the answer; False when there is none."""
        answer, task = self._answer, self._answering
        if answer is None or task is None:
            return False
        answer.why = why
        task.cancel()
        await asyncio.wait([task])
        return True

    def _task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        task.add_done_callback(_look)
        return task


_EVENTS: Final[Mapping[str, Callable[[_Session, Fields], Awaitable[None]]]] = {
    "session.update": _Session._update,
    "input_audio_buffer.append": _Session._append,
    "input_audio_buffer.commit": _Session._commit_all,
    "input_audio_buffer.clear": _Session._clear,
    "conversation.item.create": _Session._create,
    "conversation.item.retrieve": _Session._retrieve,
    "conversation.item.truncate": _Session._truncate,
    "conversation.item.delete": _Session._delete,
    "response.create": _Session._respond,
    "response.cancel": _Session._cancel_response,
    "output_audio_buffer.clear": _Session._silence,
}


def _look(task: asyncio.Task[None]) -> None:
    """A task that failed while it told so has nobody to tell any more."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.info("a task of a client ended kind=%s", type(error).__name__)


def _decoded(audio: str) -> Pcm:
    try:
        data = base64.b64decode(audio, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadField("audio", "'audio' has to be base64.") from error
    if len(data) % 2:
        raise BadField("audio", "'audio' has to be samples of 16 bits.")
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32_768)
