"""The language model as an agent of Home Assistant's: a transcript comes in, an answer goes out
while it is written.

    client  transcript {text, context: {conversation_id}}
    server  handled-start, handled-chunk .., handled, handled-stop; or not-handled

Invariant: what was said is remembered by conversation, for a few of them, in memory alone; nobody
gets at one without its id, and nothing of the window's is among them.
"""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from wyoming.event import Event
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled

from engine.errors import LanguageModelError, ModelError
from engine.llm.base import Message, Role, TextDelta
from engine.serve.doors.answers import text_of
from engine.serve.doors.wyoming.client import Client
from engine.serve.doors.wyoming.events import context_of, rate_of
from engine.serve.service import Service

CONVERSATIONS: Final = 32
MESSAGES: Final = 20  # of one
_LONGEST_ID: Final = 200  # characters


class Answering:
    """The mind, for all clients of a door."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._conversations: OrderedDict[str, tuple[Message, ...]] = OrderedDict()

    async def answer(self, event: Event, client: Client) -> None:
        """Answer a transcript."""
        context = context_of(event)
        key = text_of(context, "conversation_id")[:_LONGEST_ID]
        said = text_of(event.data, "text")[: self._service.limits.text]
        history = (*self._conversations.get(key, ()), Message(Role.USER, said))
        try:
            text = await self._write(history, rate_of(event), client, context)
        except (LanguageModelError, ModelError) as error:
            await client.send(NotHandled(str(error), context))
            return
        await client.send(Handled(text, context))
        await client.send(HandledStop())
        if key:
            self._remember(key, (*history, Message(Role.ASSISTANT, text)))

    async def _write(
        self,
        history: Sequence[Message],
        rate: float | None,
        client: Client,
        context: dict[str, object],
    ) -> str:
        """Send the answer piece by piece; all of it."""
        await client.send(HandledStart(context))
        text = ""
        async with aclosing(self._service.mind.reply(history, rate)) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta) and delta.text:
                    text += delta.text
                    await client.send(HandledChunk(delta.text))
        return text

    def _remember(self, key: str, messages: tuple[Message, ...]) -> None:
        self._conversations[key] = messages[-MESSAGES:]
        self._conversations.move_to_end(key)
        while len(self._conversations) > CONVERSATIONS:
            self._conversations.popitem(last=False)
