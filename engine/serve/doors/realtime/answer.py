"""One answer to a client: written by the language model and spoken while it is written.

Invariant: every event of an answer comes in OpenAI's order, and whatever was begun is ended: an
answer that is cancelled or fails says so in its response.done. The rate is the session's at every
step.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from engine.errors import EngineError
from engine.llm.base import ChangeRate, TextDelta
from engine.llm.tools.toolbox import ToolCall
from engine.serve.doors.encoding import pcm16
from engine.serve.doors.realtime.conversation import Call, Conversation, Message, Part, new_key
from engine.serve.doors.realtime.session import Session
from engine.serve.doors.requests import fault
from engine.serve.service import Service
from engine.serve.speech import Speech


class Answer:
    """run() gives it. Set `why` before that task is cancelled."""

    def __init__(
        self,
        service: Service,
        tell: Callable[..., Awaitable[None]],
        conversation: Conversation,
        session: Session,
    ) -> None:
        """`tell` sends an event; `session` as it holds for this answer."""
        self.why = ""
        self._service = service
        self._send = tell
        self._conversation = conversation
        self._session = session
        self._key = new_key("resp")
        self._output: list[Message | Call] = []
        self._message: Message | None = None  # None = nothing was said yet
        self._speech: Speech | None = None  # None = not aloud
        self._rate = session.audio.output.target(service.own_pace)
        if "audio" in session.output_modalities:
            longest = service.limits.streamed_text
            self._speech = service.speech(session.audio.output.voice, self._rate, longest=longest)

    def change_rate(self, rate: float | None) -> None:
        """From the next frame on; SPS, None = the person's own."""
        self._rate = rate
        if self._speech is not None:
            self._speech.rate = rate

    async def run(self) -> None:
        """Give it. The client learns of every fault."""
        await self._send("response.created", response=self._fields("in_progress"))
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._write())
                if self._speech is not None:
                    tasks.create_task(self._speak(self._speech))
        except asyncio.CancelledError:
            await self._end("cancelled", reason=self.why)
            raise
        except ExceptionGroup as both:
            error = both.exceptions[0]
            if not isinstance(error, EngineError):
                raise error from both
            await self._end("failed", error=fault(error))
        else:
            await self._end("completed")

    async def _speak(self, speech: Speech) -> None:
        async with aclosing(speech.frames(self._session.audio.output.lead_ms)) as frames:
            async for frame in frames:
                sound = base64.b64encode(pcm16(frame.pcm)).decode()
                await self._tell("response.output_audio.delta", delta=sound)

    async def _write(self) -> None:
        kind = "output_audio_transcript" if self._speech else "output_text"
        async with aclosing(await self._pieces()) as pieces:
            async for piece in pieces:
                match piece:
                    case TextDelta(text) if text:
                        (await self._begun()).grow(text)  # first: it precedes its sound
                        await self._tell(f"response.{kind}.delta", delta=text)
                        if self._speech is not None:
                            self._speech.write(text)
                    case ToolCall():
                        await self._call(piece)
                    case ChangeRate(by, to):
                        moved = (self._rate or self._service.own_pace) + (by or 0.0)
                        self.change_rate(to if by is None else moved)
                    case _:
                        pass  # it is still at work
        if self._speech is not None:
            self._speech.end()

    async def _pieces(self) -> AsyncGenerator[TextDelta | ToolCall | ChangeRate, None]:
        mind, tools = self._service.mind, self._session.functions()
        instructions = self._session.instructions
        if tools and await mind.can_call():
            return mind.complete(self._conversation.chat(instructions), tools)
        return mind.reply(self._conversation.messages(instructions), self._rate)

    async def _begun(self) -> Message:
        """The message; the client learns of it at first."""
        if self._message is None:
            self._message = Message(role="assistant", content=[], status="in_progress")
            self._message.spoken_by(self._speech)
            await self._open(self._message)
            part = Part(type="output_audio" if self._speech else "output_text")
            self._message.content = [part]
            self._message.grow("")
            await self._tell("response.content_part.added", part=self._part(""))
        return self._message

    def _part(self, text: str) -> dict[str, str]:
        if self._speech is not None:
            return {"type": "audio", "transcript": text}
        return {"type": "text", "text": text}

    async def _call(self, call: ToolCall) -> None:
        item = Call(call_id=call.id or new_key("call"), name=call.name, status="in_progress")
        await self._open(item)
        place = {**self._place(item), "call_id": item.call_id}
        item.arguments, item.status = call.arguments, "completed"
        kind = "response.function_call_arguments"
        await self._send(f"{kind}.delta", **place, delta=item.arguments)
        named = {"name": item.name, "arguments": item.arguments}
        await self._send(f"{kind}.done", **place, **named)
        await self._close(item)

    async def _end(self, status: str, **details: Any) -> None:
        if (message := self._message) is not None:
            message.status = "completed" if status == "completed" else "incomplete"
            if self._speech is not None:
                if status != "completed":
                    message.interrupt()
                await self._tell("response.output_audio.done")
                kind = "response.output_audio_transcript.done"
                await self._tell(kind, transcript=message.said)
            else:
                await self._tell("response.output_text.done", text=message.said)
            await self._tell("response.content_part.done", part=self._part(message.said))
            await self._close(message)
        response = self._fields(status)
        if details:
            response["status_details"] = {"type": status, **details}
        await self._send("response.done", response=response)

    async def _open(self, item: Message | Call) -> None:
        self._output.append(item)
        before = self._conversation.add(item)
        await self._send("response.output_item.added", **self._place(item), item=item.shown())
        shown = item.shown()
        await self._send("conversation.item.added", previous_item_id=before, item=shown)

    async def _close(self, item: Message | Call) -> None:
        await self._send("response.output_item.done", **self._place(item), item=item.shown())
        await self._send("conversation.item.done", item=item.shown())

    async def _tell(self, kind: str, **fields: Any) -> None:
        """Send an event on the message, which silence before the first word begins too."""
        message = await self._begun()
        await self._send(kind, **self._place(message), content_index=0, **fields)

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
            "output_modalities": ["audio" if self._speech else "text"],
            "usage": None if status == "in_progress" else used,
            "metadata": None,
        }
