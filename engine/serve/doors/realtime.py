"""The WebSocket /v1/realtime: a conversation in the events of OpenAI's Realtime interface.

Invariant: at most one answer runs. Its events come in OpenAI's order, and everything that begins
also ends: a cancelled or failed answer says so in its response.done. A fault in a client's event is
reported with that event's id, and the session continues.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final

import numpy as np
from starlette.websockets import WebSocket

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.asr.base import Transcript
from engine.audio.pcm import Pcm, Resampler
from engine.audio.vad import SpeechEnded, SpeechEvent, SpeechPaused, SpeechStarted
from engine.errors import EngineError
from engine.llm.base import ChangeRate, TextDelta
from engine.llm.tools.toolbox import ToolCall
from engine.serve.doors.conversation import (
    Call,
    Conversation,
    Item,
    Message,
    Part,
    Session,
    new_key,
)
from engine.serve.doors.encoding import pcm16, samples_of
from engine.serve.doors.microphone import SLICE, ClientMicrophone
from engine.serve.doors.realtime_events import ClientEvent, ResponseOptions
from engine.serve.doors.requests import EventEndpoint, Fields, Refusal, bounded, checked, fault
from engine.serve.service import SAMPLE_RATE

_Draft = asyncio.Task[Transcript | None]
_SHORTEST: Final = EAR_RATE // 10  # samples that can be committed


class RealtimeClient(EventEndpoint[ClientEvent]):
    """One client's conversation."""

    kind = ClientEvent

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.conversation = Conversation()
        self._session = Session()
        self._microphone = ClientMicrophone()
        self._answer: Answer | None = None  # the newest, as are the others
        self._answering: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._drafts: dict[int, _Draft] = {}  # by the sample where its pause began; at most one
        self._next = new_key("item")  # id of the item for the current utterance

    async def on_connect(self, websocket: WebSocket) -> None:
        await super().on_connect(websocket)
        await self.service.load_detector()
        if websocket.query_params.get("intent") == "transcription":
            self._session = Session(type="transcription")
        self._listen()
        await self.tell("session.created", session=self._session.model_dump())

    async def take(self, event: ClientEvent) -> None:
        match event.type:
            case "session.update":
                self._session = await self._changed(event.session)
                self._listen()
                if self._answer is not None:
                    rate = self._session.audio.output.target(self.service.own_pace)
                    self._answer.speech.rate = rate
                await self.tell("session.updated", session=self._session.model_dump())
            case "response.create":
                await self._respond(event.response)
            case "response.cancel":
                if not await self._cancel("client_cancelled"):
                    kind = "response_cancel_not_active"
                    raise Refusal("No response is in progress.", known_as=kind)
            case "input_audio_buffer.append":
                await self._append(event.audio)
            case "input_audio_buffer.commit":
                if len(self._microphone.heard) < _SHORTEST:
                    raise Refusal("The sound is too short: send 100 ms or more.", field="audio")
                await self._note(create=False)
            case "input_audio_buffer.clear":
                self._microphone.clear()
                await self.tell("input_audio_buffer.cleared")
            case "conversation.item.create":
                await self._create(event.item, event.previous_item_id)
            case _:
                await self._take_item(event)

    async def _take_item(self, event: ClientEvent) -> None:
        retrieved = event.type == "conversation.item.retrieve"
        known_as = "item_retrieve_invalid_item_id" if retrieved else Refusal.code
        item = self.conversation.find(event.item_id, known_as)
        if retrieved:
            await self.tell("conversation.item.retrieved", item=item.shown())
        elif event.type == "conversation.item.delete":
            self.conversation.remove(item)
            await self.tell("conversation.item.deleted", item_id=item.id)
        else:
            at_ms = round(event.audio_end_ms)
            item.truncate(at_ms)
            place = {"item_id": item.id, "content_index": 0, "audio_end_ms": at_ms}
            await self.tell("conversation.item.truncated", **place)

    async def _create(self, item: Item | None, after: str | None) -> None:
        if item is None:
            raise Refusal("Give an item.", field="item")
        unheard = item.unheard() if isinstance(item, Message) else {}
        sounds = {at: _samples(audio) for at, audio in unheard.items()}
        await self._add(item, after)
        if isinstance(item, Message) and sounds:
            self._hearing = self.tasks.create_task(self._understand_parts(item, sounds))

    async def _add(self, item: Item, after: str | None = None, *, committed: bool = False) -> None:
        before = self.conversation.add(item, after)
        if committed:
            place = {"item_id": item.id, "previous_item_id": before}
            await self.tell("input_audio_buffer.committed", **place)
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self.tell(kind, previous_item_id=before, item=item.shown())

    async def _changed(self, changes: Fields) -> Session:
        """Return the changed session. InvalidInput also for an unknown voice: most clients would
        not notice it later, in a failed response.
        """
        session = self._session.changed(changes)
        if (voice := session.audio.output.voice) != self._session.audio.output.voice:
            await self.service.check_voice(voice)
        return session

    # ------------------------------------------------------------------------------- ears

    def _listen(self) -> None:
        turns = self._session.audio.input.turn_detection
        self._microphone.listen(turns.patience if turns else None)

    async def _append(self, audio: str) -> None:
        pcm = _samples(audio)
        for at in range(0, len(pcm), SLICE):
            for shown in self._microphone.push(pcm[at : at + SLICE]):
                await self._hear(shown)
            await asyncio.sleep(0)  # let other clients run

    async def _hear(self, event: SpeechEvent) -> None:
        turns = self._session.audio.input.turn_detection
        at_ms = event.sample * 1000 // EAR_RATE
        place = {"item_id": self._next}
        match event:
            case SpeechStarted():
                await self.tell("input_audio_buffer.speech_started", audio_start_ms=at_ms, **place)
                if turns and turns.interrupt_response:
                    await self._cancel("turn_detected")
            case SpeechPaused(sample) if turns and turns.semantic:
                for stale in self._drafts.values():
                    stale.cancel()
                draft = self._draft(sample, self._microphone.heard)
                self._drafts = {sample: self.tasks.create_task(draft)}
            case SpeechEnded(sample):
                await self.tell("input_audio_buffer.speech_stopped", audio_end_ms=at_ms, **place)
                answer = bool(turns and turns.create_response)
                await self._note(self._drafts.pop(sample, None), create=answer)

    async def _draft(self, pause: int, heard: Pcm) -> Transcript | None:
        """Transcribe the words before a pause; their completeness decides how long to wait."""
        ears, language = self.service.ears, self._session.audio.input.language
        with suppress(EngineError):
            transcript = await ears.transcript(heard, language)
            self._microphone.judge(pause, transcript, await ears.completeness(transcript.text))
            return transcript
        return None

    async def _note(self, draft: _Draft | None = None, *, create: bool) -> None:
        """Add an item for the utterance; its words follow, from the `draft` if there is one."""
        part = Part(type="input_audio", transcript="")
        item = Message(id=self._next, role="user", content=[part])
        self._next = new_key("item")
        await self._add(item, committed=True)
        pcm = self._microphone.heard
        self._microphone.clear()
        self._hearing = self.tasks.create_task(self._understand(item, 0, pcm, draft, create=create))

    async def _understand_parts(self, item: Message, sounds: Mapping[int, Pcm]) -> None:
        for at, sound in sounds.items():
            resampler = Resampler(SAMPLE_RATE, EAR_RATE)
            pcm = np.concatenate([resampler.push(sound), resampler.end()])
            await self._understand(item, at, pcm, create=False)

    async def _understand(
        self, item: Message, at: int, pcm: Pcm, draft: _Draft | None = None, *, create: bool
    ) -> None:
        place = {"item_id": item.id, "content_index": at}
        kind = "conversation.item.input_audio_transcription"
        language = self._session.audio.input.language
        try:
            drafted = await draft if draft else None
            heard = (drafted or await self.service.ears.transcript(pcm, language)).text
        except EngineError as error:
            await self.tell(f"{kind}.failed", **place, error=fault(error))
            return
        item.content[at].said, item.content[at].audio = heard, None
        if self._session.transcribes:
            used = {"type": "duration", "seconds": round(len(pcm) / EAR_RATE, 2)}
            if heard:
                await self.tell(f"{kind}.delta", **place, delta=heard)
            await self.tell(f"{kind}.completed", **place, transcript=heard, usage=used)
        if create and heard and self._session.answers and not self._is_answering:
            self._begin(self._session, ResponseOptions())

    # ---------------------------------------------------------------------------- answers

    @property
    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.done()

    async def _respond(self, changes: Fields) -> None:
        options = checked(ResponseOptions, changes)
        own = ResponseOptions.model_fields
        session = await self._changed({k: v for k, v in changes.items() if k not in own})
        if not self._session.answers:
            raise Refusal("A transcription session does not answer.", field="type")
        if not self._is_answering and self._hearing is not None:
            await asyncio.wait([self._hearing])  # the answer includes that utterance
        if self._is_answering:  # the utterance may be answered by now
            kind = "conversation_already_has_active_response"
            raise Refusal("A response is already in progress.", known_as=kind)
        self._begin(session, options)

    def _begin(self, session: Session, options: ResponseOptions) -> None:
        self._answer = Answer(self, session, options)
        self._answering = self.tasks.create_task(self._answer.run())

    async def _cancel(self, why: str) -> bool:
        """End the answer; False if there is none."""
        answer, task = self._answer, self._answering
        if answer is None or task is None or task.done():
            return False
        answer.why = why
        await asyncio.sleep(0)  # let it begin, so that its end is reported too
        task.cancel()
        await asyncio.wait([task])
        return True


class Answer:
    """One answer, spoken while the language model writes it. run() performs it; set `why` before
    that task is cancelled. The rate of its `speech` may change at any time.
    """

    def __init__(self, client: RealtimeClient, session: Session, options: ResponseOptions) -> None:
        """`session`: the settings of this answer. Refusal of an input that cannot be used."""
        self._context = options.context(client.conversation)
        self._kept = client.conversation if options.conversation == "auto" else None
        self._metadata = options.metadata
        service, output = client.service, session.audio.output
        rate, language = output.target(service.own_pace), session.audio.input.language[:2]
        self.speech = service.speech(output.voice, rate, language=language, streamed=True)
        self.why = ""
        self._client = client
        self._send = client.tell
        self._session = session
        self._aloud = "audio" in session.output_modalities
        self._kind = "output_audio_transcript" if self._aloud else "output_text"
        self._field = "transcript" if self._aloud else "text"
        self._key = new_key("resp")
        self._output: list[Message | Call] = []
        self._message: Message | None = None  # None = no text yet

    async def run(self) -> None:
        """Perform the answer; report every fault to the client."""
        await self._send("response.created", response=self._fields("in_progress"))
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._write())
                if self._aloud:
                    tasks.create_task(self._speak())
        except* EngineError as faults:
            await self._end("failed", error=fault(faults.exceptions[0]))
        except* asyncio.CancelledError:
            await self._end("cancelled", reason=self.why)
        else:
            await self._end("completed")

    async def _speak(self) -> None:
        async with aclosing(self.speech.frames(self._session.audio.output.lead_ms)) as frames:
            async for frame in frames:
                sound = base64.b64encode(pcm16(frame.pcm)).decode()
                await self._tell("response.output_audio.delta", delta=sound)

    async def _write(self) -> None:
        service = self._client.service
        async with aclosing(await self._pieces()) as pieces:
            async for piece in pieces:
                match piece:
                    case TextDelta(text) if text:
                        (await self._begun()).grow(text)  # first: it precedes its sound
                        await self._tell(f"response.{self._kind}.delta", delta=text)
                        if self._aloud:
                            self.speech.write(text)
                    case ToolCall():
                        await self._call(piece)
                    case ChangeRate(by, to):
                        moved = (self.speech.rate or service.own_pace) + (by or 0.0)
                        self.speech.rate = to if by is None else bounded(moved)
        self.speech.end()

    async def _pieces(self) -> AsyncGenerator[TextDelta | ToolCall | ChangeRate, None]:
        language_model, tools = self._client.service.language_model, self._session.functions()
        conversation, instructions = self._context, self._session.instructions
        if tools and await language_model.can_call():
            return language_model.complete(conversation.chat(instructions), tools)
        return language_model.reply(conversation.messages(instructions), self.speech.rate)

    async def _begun(self) -> Message:
        """Return the message; announce it to the client at the first call."""
        if self._message is None:
            self._message = Message(role="assistant", content=[], status="in_progress")
            self._message.spoken_by(self.speech if self._aloud else None)
            await self._open(self._message)
            self._message.content = [Part(type="output_audio" if self._aloud else "output_text")]
            self._message.grow("")
            await self._tell("response.content_part.added", part=self._part(""))
        return self._message

    async def _call(self, call: ToolCall) -> None:
        item = Call(call_id=call.id or new_key("call"), name=call.name, status="in_progress")
        await self._open(item)
        item.arguments, item.status = call.arguments, "completed"
        kind, place = "response.function_call_arguments", self._place(item)
        place["call_id"] = item.call_id
        await self._send(f"{kind}.delta", **place, delta=item.arguments)
        named = {"name": item.name, "arguments": item.arguments}
        await self._send(f"{kind}.done", **place, **named)
        await self._close(item)

    async def _end(self, status: str, **details: Any) -> None:
        if (message := self._message) is not None:
            message.status = "completed" if status == "completed" else "incomplete"
            if status != "completed":
                message.interrupt()
            if self._aloud:
                await self._tell("response.output_audio.done")
            await self._tell(f"response.{self._kind}.done", **{self._field: message.said})
            await self._tell("response.content_part.done", part=self._part(message.said))
            await self._close(message)
        response = self._fields(status)
        if details:
            response["status_details"] = {"type": status, **details}
        await self._send("response.done", response=response)

    async def _open(self, item: Message | Call) -> None:
        self._output.append(item)
        before = self._kept.add(item) if self._kept is not None else None
        await self._send("response.output_item.added", **self._place(item), item=item.shown())
        if self._kept is not None:
            shown = item.shown()
            await self._send("conversation.item.added", previous_item_id=before, item=shown)

    async def _close(self, item: Message | Call) -> None:
        await self._send("response.output_item.done", **self._place(item), item=item.shown())
        if self._kept is not None:
            await self._send("conversation.item.done", item=item.shown())

    async def _tell(self, kind: str, **fields: Any) -> None:
        """Send an event about the message, which even silence before the first word begins."""
        message = await self._begun()
        await self._send(kind, **self._place(message), content_index=0, **fields)

    def _part(self, text: str) -> dict[str, str]:
        return {"type": "audio" if self._aloud else "text", self._field: text}

    def _place(self, item: Message | Call) -> dict[str, Any]:
        at = self._output.index(item)
        return {"response_id": self._key, "output_index": at, "item_id": item.id}

    def _fields(self, status: str) -> dict[str, Any]:
        used = {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0}
        return {
            "id": self._key,
            "object": "realtime.response",
            "status": status,
            "status_details": None,
            "output": [item.shown() for item in self._output],
            "output_modalities": ["audio" if self._aloud else "text"],
            "usage": None if status == "in_progress" else used,
            "metadata": self._metadata,
        }


def _samples(audio: str) -> Pcm:
    try:
        return samples_of(audio)
    except ValueError as error:
        raise Refusal("Give samples of 16 bits in base64.", field="audio") from error
