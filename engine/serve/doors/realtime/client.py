"""The WebSocket /v1/realtime: a client's events, one after the other.

Invariant: at most one answer is being given. A fault of an event is reported with that event's id,
and the session goes on.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final

import numpy as np
from starlette.websockets import WebSocket

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.audio.pcm import Pcm
from engine.audio.vad import SpeechEnded, SpeechEvent, SpeechPaused, SpeechStarted
from engine.errors import EngineError
from engine.serve.doors.microphone import SLICE, ClientMicrophone
from engine.serve.doors.realtime.answer import Answer
from engine.serve.doors.realtime.conversation import Conversation, Item, Message, Part, new_key
from engine.serve.doors.realtime.session import ClientEvent, Session
from engine.serve.doors.requests import EventEndpoint, Fields, Refusal, fault

_SHORTEST: Final = EAR_RATE // 10  # samples that can be committed


class RealtimeClient(EventEndpoint[ClientEvent]):
    """One client's conversation."""

    kind = ClientEvent

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._session = Session()
        self._conversation = Conversation()
        self._microphone = ClientMicrophone()
        self._answer: Answer | None = None  # the newest, as are the others
        self._answering: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._drafting: asyncio.Task[None] | None = None
        self._next = new_key("item")  # of what is being said

    async def on_connect(self, websocket: WebSocket) -> None:
        await super().on_connect(websocket)
        self._listen()
        await self.tell("session.created", session=self._session.model_dump())

    async def take(self, event: ClientEvent) -> None:
        match event.type:
            case "session.update":
                self._session = await self._changed(event.session)
                self._listen()
                if self._answer is not None:
                    rate = self._session.audio.output.target(self.service.own_pace)
                    self._answer.change_rate(rate)
                await self.tell("session.updated", session=self._session.model_dump())
            case "response.create":
                await self._respond(event.response)
            case "response.cancel":
                if not await self._cancel("client_cancelled"):
                    kind = "response_cancel_not_active"
                    raise Refusal("No response is in progress.", known_as=kind)
            case "output_audio_buffer.clear":
                await self._cancel("client_cancelled")
                await self.tell("output_audio_buffer.cleared")
            case "input_audio_buffer.append":
                pcm = np.frombuffer(event.audio, "<i2").astype(np.float32) / np.float32(32_768)
                await self._append(pcm)
            case "input_audio_buffer.commit":
                if len(self._microphone.heard()) < _SHORTEST:
                    raise Refusal("There is too little sound: give 100 ms or more.", field="audio")
                await self._note(create=False)
            case "input_audio_buffer.clear":
                self._microphone.clear()
                await self.tell("input_audio_buffer.cleared")
            case _:
                await self._take_item(event)

    async def _changed(self, changes: Fields) -> Session:
        """InvalidInput also for an unknown voice: most clients would not notice it later, in a
        response that failed.
        """
        session = self._session.changed(changes)
        if (voice := session.audio.output.voice) != self._session.audio.output.voice:
            await self.service.check_voice(voice)
        return session

    def _listen(self) -> None:
        turns = self._session.audio.input.turn_detection
        self._microphone.listen(turns.patience if turns else None)

    async def _append(self, pcm: Pcm) -> None:
        for at in range(0, len(pcm), SLICE):
            for shown in self._microphone.push(pcm[at : at + SLICE]):
                await self._hear(shown)
            await asyncio.sleep(0)  # others have their turn

    async def _hear(self, event: SpeechEvent) -> None:
        turns = self._session.audio.input.turn_detection
        place = {"item_id": self._next}
        at_ms = event.sample * 1000 // EAR_RATE
        match event:
            case SpeechStarted():
                kind = "input_audio_buffer.speech_started"
                await self.tell(kind, audio_start_ms=at_ms, **place)
                if turns and turns.interrupt_response:
                    await self._cancel("turn_detected")
            case SpeechPaused(sample) if turns and turns.semantic:
                if self._drafting is not None:
                    self._drafting.cancel()
                self._drafting = self.tasks.create_task(self._draft(sample))
            case SpeechEnded():
                kind = "input_audio_buffer.speech_stopped"
                await self.tell(kind, audio_end_ms=at_ms, **place)
                await self._note(create=bool(turns and turns.create_response))

    async def _draft(self, pause: int) -> None:
        """How complete the words before a pause are says how long it is waited for more."""
        ears, heard = self.service.ears, self._microphone.heard()
        with suppress(EngineError):
            transcript = await ears.transcript(heard, self._session.audio.input.language)
            judged = await ears.completeness(transcript.text)
            self._microphone.judge(pause, transcript, judged)

    async def _note(self, *, create: bool) -> None:
        """What was said is an item; its words follow."""
        part = Part(type="input_audio", transcript="")
        item = Message(id=self._next, role="user", content=[part])
        self._next = new_key("item")
        before = self._conversation.add(item)
        place = {"item_id": item.id, "previous_item_id": before}
        await self.tell("input_audio_buffer.committed", **place)
        await self._tell_item(item, before)
        pcm = self._microphone.heard()
        self._microphone.clear()
        self._hearing = self.tasks.create_task(self._understand(item, pcm, create=create))

    async def _understand(self, item: Message, pcm: Pcm, *, create: bool) -> None:
        place = {"item_id": item.id, "content_index": 0}
        kind = "conversation.item.input_audio_transcription"
        settings = self._session.audio.input
        try:
            heard = (await self.service.ears.transcript(pcm, settings.language)).text
        except EngineError as error:
            await self.tell(f"{kind}.failed", **place, error=fault(error))
            return
        item.content[0].said = heard
        if self._session.audio.input.transcription is not None:
            used = {"type": "duration", "seconds": round(len(pcm) / EAR_RATE, 2)}
            if heard:
                await self.tell(f"{kind}.delta", **place, delta=heard)
            await self.tell(f"{kind}.completed", **place, transcript=heard, usage=used)
        if create and heard and not self._is_answering:
            self._begin(self._session)

    async def _tell_item(self, item: Item, before: str | None) -> None:
        shown = item.shown()
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self.tell(kind, previous_item_id=before, item=shown)

    async def _take_item(self, event: ClientEvent) -> None:
        if event.type == "conversation.item.create":
            if event.item is None:
                raise Refusal("Give an item.", field="item")
            before = self._conversation.add(event.item, event.previous_item_id)
            await self._tell_item(event.item, before)
            return
        retrieved = event.type == "conversation.item.retrieve"
        known_as = "item_retrieve_invalid_item_id" if retrieved else Refusal.code
        item = self._conversation.find(event.item_id, known_as)
        if retrieved:
            await self.tell("conversation.item.retrieved", item=item.shown())
        elif event.type == "conversation.item.delete":
            self._conversation.remove(item)
            await self.tell("conversation.item.deleted", item_id=item.id)
        else:
            at_ms = round(event.audio_end_ms)
            item.truncate(at_ms)
            place = {"item_id": item.id, "content_index": 0, "audio_end_ms": at_ms}
            await self.tell("conversation.item.truncated", **place)

    @property
    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.done()

    async def _respond(self, changes: Fields) -> None:
        session = await self._changed(changes)
        if not self._is_answering and self._hearing is not None:
            await asyncio.wait([self._hearing])  # it is an answer to what was said
        if self._is_answering:  # what was said may be answered by now
            kind = "conversation_already_has_active_response"
            raise Refusal("A response is in progress already.", known_as=kind)
        self._begin(session)

    def _begin(self, session: Session) -> None:
        self._answer = Answer(self.service, self.tell, self._conversation, session)
        self._answering = self.tasks.create_task(self._answer.run())

    async def _cancel(self, why: str) -> bool:
        """End the answer; False when there is none."""
        answer, task = self._answer, self._answering
        if answer is None or task is None or task.done():
            return False
        answer.why = why
        await asyncio.sleep(0)  # it has begun, so that its end is reported too
        task.cancel()
        await asyncio.wait([task])
        return True
