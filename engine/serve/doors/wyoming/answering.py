"""The language model as an agent of Home Assistant's: a transcript comes in, an answer goes out
while it is written.

    client  transcript {text, context: {conversation_id}}
    server  handled-start, handled-chunk .., handled, handled-stop; or not-handled

Invariant: conversations are remembered by their ids, a few of them, in memory alone; nobody gets at
one without its id, and nothing of the window's is among them.
"""

from collections import OrderedDict
from contextlib import aclosing
from typing import Final

from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled

from engine.errors import LanguageModelError, ModelError
from engine.llm.base import Message, Role, TextDelta
from engine.serve.doors.requests import Text
from engine.serve.doors.wyoming.client import Client, Contextual
from engine.serve.service import Service

CONVERSATIONS: Final = 32
MESSAGES: Final = 20  # of one
_LONGEST_ID: Final = 200  # characters


class Said(Contextual):
    """What somebody said."""

    text: Text = ""


class Answering:
    """The mind, for all clients of a door."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._conversations: OrderedDict[str, tuple[Message, ...]] = OrderedDict()

    async def answer(self, said: Said, client: Client) -> None:
        """Answer a transcript."""
        context = said.context.model_dump(exclude_unset=True)
        key = said.context.conversation_id[:_LONGEST_ID]
        question = Message(Role.USER, said.text[: self._service.limits.text])
        history = (*self._conversations.get(key, ()), question)
        await client.send(HandledStart(context))
        text = ""
        try:
            async with aclosing(self._service.mind.reply(history, said.context.rate)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, TextDelta) and delta.text:
                        text += delta.text
                        await client.send(HandledChunk(delta.text))
        except (LanguageModelError, ModelError) as error:
            await client.send(NotHandled(str(error), context))
            return
        await client.send(Handled(text, context))
        await client.send(HandledStop())
        if key:
            kept = (*history, Message(Role.ASSISTANT, text))
            self._conversations[key] = kept[-MESSAGES:]
            self._conversations.move_to_end(key)
            if len(self._conversations) > CONVERSATIONS:
                self._conversations.popitem(last=False)
