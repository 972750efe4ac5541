"""One answer to a client: written by the language model and spoken while it is written.

Invariant: every event of an answer comes in OpenAI's order, and whatever was begun is ended: an
answer that is cancelled or fails says so in its response.done. The rate is the session's at every
step.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from engine.errors import EngineError
from engine.llm.base import ChangeRate, TextDelta
from engine.llm.tools.toolbox import ToolCall, ToolSchema
from engine.serve.answers import fault
from engine.serve.encoding import pcm16
from engine.serve.realtime.conversation import Conversation, Item, new_key
from engine.serve.service import Service, Wish
from engine.serve.sockets import Events
from engine.serve.speech import Speech


@dataclass(frozen=True)
class Manner:
    """How an answer is given: what holds of the session's configuration for it."""

    instructions: str
    tools: tuple[ToolSchema, ...]
    aloud: bool
    voice: str
    rate: float | None
    lead_ms: int


class Answer:
    """run() gives it; cancelling that task is for whoever calls cancel() first."""

    def __init__(
        self, service: Service, events: Events, conversation: Conversation, manner: Manner
    ) -> None:
        self.key = new_key("resp")
        self.why = ""  # it was cancelled; empty = it was not
        self._service = service
        self._events = events
        self._conversation = conversation
        self._manner = manner
        self._output: list[Item] = []
        self._item: Item | None = None  # the message; None = nothing was said yet
        self._speech: Speech | None = None  # None = not aloud, or not yet
        self._rate = manner.rate

    def change_rate(self, rate: float | None) -> None:
        """From the next frame on; SPS, None = the person's own."""
        self._rate = rate
        if self._speech is not None:
            self._speech.rate = rate

    async def run(self) -> None:
        """Give it. What goes wrong is told to the client."""
        await self._events.tell("response.created", response=self._fields("in_progress"))
        try:
            if self._manner.aloud:
                await self._aloud()
            else:
                async with aclosing(self._written()) as written:
                    async for text in written:
                        await self._grow(text)
        except asyncio.CancelledError:
            await self._end("cancelled", {"type": "cancelled", "reason": self.why})
            raise
        except EngineError as error:
            await self._end("failed", {"type": "failed", "error": fault(error)})
        else:
            await self._end("completed", None)

    async def _aloud(self) -> None:
        wish = Wish(self._manner.voice, self._rate, self._service.limits.streamed_text)
        async with self._service.speak(wish) as speech:
            self._speech = speech
            self.change_rate(self._rate)
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._write(speech))
                    tasks.create_task(self._speak(speech))
            except ExceptionGroup as both:
                raise both.exceptions[0] from both

    async def _write(self, speech: Speech) -> None:
        async with aclosing(self._written()) as written:
            async for text in written:
                speech.write(text)
                await self._grow(text)
        speech.end()

    async def _speak(self, speech: Speech) -> None:
        async for frame in speech.frames(self._manner.lead_ms):
            sound = base64.b64encode(pcm16(frame.pcm)).decode()
            await self._tell("response.output_audio.delta", delta=sound)

    async def _written(self) -> AsyncGenerator[str, None]:
        """The text as it comes; calls of functions are told on the way."""
        manner, mind = self._manner, self._service.mind
        if manner.tools and await mind.can_call():
            chat = self._conversation.chat(manner.instructions)
            pieces: AsyncGenerator[TextDelta | ToolCall | ChangeRate, None] = mind.complete(
                chat, manner.tools
            )
        else:
            pieces = mind.reply(self._conversation.messages(manner.instructions), self._rate)
        async with aclosing(pieces):
            async for piece in pieces:
                match piece:
                    case TextDelta(text) if text:
                        yield text
                    case ToolCall():
                        await self._call(piece)
                    case ChangeRate(by, to):
                        self.change_rate(to if by is None else self._moved(by))
                    case _:
                        pass  # it is still at work

    def _moved(self, by: float) -> float:
        return (self._rate or self._service.own_pace) + by

    async def _grow(self, text: str) -> None:
        """More of the message."""
        if self._item is None:
            await self._begin()
        assert self._item is not None
        if not self._item.interrupted:
            self._item.text += text
        kind = "output_audio_transcript" if self._manner.aloud else "output_text"
        await self._tell(f"response.{kind}.delta", delta=text)

    async def _begin(self) -> None:
        content = "output_audio" if self._manner.aloud else "output_text"
        item = Item(new_key("item"), role="assistant", content=content, status="in_progress")
        item.speech = self._speech
        self._item = item
        await self._open(item)
        part = {"type": "audio", "transcript": ""} if self._manner.aloud else {"type": "text"}
        await self._tell("response.content_part.added", part=part)

    async def _open(self, item: Item) -> None:
        self._output.append(item)
        before = self._conversation.add(item)
        place = {"response_id": self.key, "output_index": len(self._output) - 1}
        await self._events.tell("response.output_item.added", **place, item=item.fields())
        await self._events.tell(
            "conversation.item.added", previous_item_id=before, item=item.fields()
        )

    async def _call(self, call: ToolCall) -> None:
        about = {"call_id": call.id or new_key("call"), "name": call.name}
        item = Item(new_key("item"), "function_call", "assistant", status="in_progress")
        item.call = {**about, "arguments": ""}
        await self._open(item)
        place: dict[str, Any] = {"response_id": self.key, "output_index": len(self._output) - 1}
        place |= {"item_id": item.key, "call_id": about["call_id"]}
        kind = "response.function_call_arguments"
        await self._events.tell(f"{kind}.delta", **place, delta=call.arguments)
        item.call["arguments"], item.status = call.arguments, "completed"
        await self._events.tell(f"{kind}.done", **place, name=call.name, arguments=call.arguments)
        await self._close(item)

    async def _end(self, status: str, details: dict[str, Any] | None) -> None:
        item = self._item
        if item is not None:
            item.status = "completed" if status == "completed" else "incomplete"
            if self._speech is not None and status != "completed" and not item.interrupted:
                item.truncate(self._speech.given_ms)
            await self._end_parts(item)
            await self._close(item)
        response = {**self._fields(status), "status_details": details}
        await self._events.tell("response.done", response=response)

    async def _end_parts(self, item: Item) -> None:
        if self._manner.aloud:
            await self._tell("response.output_audio.done")
            kind, name = "response.output_audio_transcript.done", "transcript"
            part = {"type": "audio", "transcript": item.text}
        else:
            kind, name = "response.output_text.done", "text"
            part = {"type": "text", "text": item.text}
        await self._tell(kind, **{name: item.text})
        await self._tell("response.content_part.done", part=part)

    async def _close(self, item: Item) -> None:
        place = {"response_id": self.key, "output_index": self._output.index(item)}
        await self._events.tell("response.output_item.done", **place, item=item.fields())
        await self._events.tell("conversation.item.done", item=item.fields())

    async def _tell(self, kind: str, **fields: Any) -> None:
        """Send an event on the message."""
        if self._item is None:  # silence before the first word
            await self._begin()
        assert self._item is not None
        place: dict[str, Any] = {"response_id": self.key, "item_id": self._item.key}
        place |= {"output_index": self._output.index(self._item), "content_index": 0}
        await self._events.tell(kind, **place, **fields)

    def _fields(self, status: str) -> dict[str, Any]:
        used = {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0}
        return {
            "id": self.key,
            "object": "realtime.response",
            "status": status,
            "status_details": None,
            "output": [item.fields() for item in self._output],
            "output_modalities": ["audio" if self._manner.aloud else "text"],
            "usage": None if status == "in_progress" else used,
            "metadata": None,
        }
