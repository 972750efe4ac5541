"""The items of a conversation, and what a language model learns of them.

Invariant: of what was spoken to the client, the history has the words that it heard and no more.
"""

import secrets
from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from engine.llm import base
from engine.llm.history import ChatMessage, told
from engine.serve.doors.requests import Refusal, Text, Wire
from engine.serve.speech import Speech

_MOST_ITEMS: Final = 400
_MOST_PARTS: Final = 64
_MOST_CHARACTERS: Final = 200_000


def new_key(kind: str) -> str:
    """An id as clients expect it."""
    return f"{kind}_{secrets.token_hex(12)}"


class _Kept(Wire):
    model_config = ConfigDict(extra="ignore")  # many are

    def shown(self) -> dict[str, Any]:
        """As the client gets it."""
        return self.model_dump(exclude_none=True)


class Part(_Kept):
    """One part of a message; a spoken one has a transcript, a written one a text."""

    type: Literal["input_text", "output_text", "text", "input_audio", "output_audio", "audio"]
    text: Text | None = None
    transcript: Text | None = None

    @property
    def said(self) -> str:
        return (self.transcript if "audio" in self.type else self.text) or ""

    @said.setter
    def said(self, text: str) -> None:
        if "audio" in self.type:
            self.transcript = text
        else:
            self.text = text


class _Item(_Kept):
    id: Text = Field(default_factory=partial(new_key, "item"))
    object: Literal["realtime.item"] = "realtime.item"
    status: Literal["in_progress", "completed", "incomplete"] = "completed"

    def truncate(self, at_ms: int) -> None:
        """The client has heard it up to here. Refusal where it was not spoken."""
        raise Refusal("Only what was spoken can be truncated.", field="item_id")


class Message(_Item):
    """What one of the two said. `interrupted`: the client did not hear all of it."""

    type: Literal["message"] = "message"
    role: Literal["user", "system", "assistant"]
    content: Annotated[list[Part], Field(max_length=_MOST_PARTS)]
    _speech: Speech | None = None  # how it was spoken; None = it was not
    _interrupted: bool = False

    @property
    def said(self) -> str:
        return " ".join(filter(None, (part.said for part in self.content)))

    @property
    def told(self) -> base.Message:
        """As language models get it."""
        return base.Message(base.Role(self.role), self.said, interrupted=self._interrupted)

    def spoken_by(self, speech: Speech | None) -> None:
        self._speech = speech

    def grow(self, text: str) -> None:
        """More of its only part."""
        if not self._interrupted:
            self.content[0].said += text

    def truncate(self, at_ms: int) -> None:
        """As of any item. Refusal where there is no such moment."""
        if self._speech is None:
            super().truncate(at_ms)
        elif at_ms > (given_ms := self._speech.given_ms):
            raise Refusal(
                "Its sound has only {length} ms so far.", field="audio_end_ms", length=given_ms
            )
        else:
            self.content[0].said = self._speech.text_until(at_ms)
            self._interrupted = True

    def interrupt(self) -> None:
        """The client has heard at most what was given out."""
        if self._speech is not None and not self._interrupted:
            self.truncate(self._speech.given_ms)


class Call(_Item):
    """A call of a function of the client's."""

    type: Literal["function_call"] = "function_call"
    call_id: Text
    name: Text
    arguments: Text = ""

    @property
    def told(self) -> ChatMessage:
        function = {"name": self.name, "arguments": self.arguments}
        call = {"id": self.call_id, "type": "function", "function": function}
        return {"role": "assistant", "content": "", "tool_calls": [call]}


class CallOutput(_Item):
    """What a function gave."""

    type: Literal["function_call_output"]
    call_id: Text
    output: Text = ""

    @property
    def told(self) -> ChatMessage:
        return {"role": "tool", "tool_call_id": self.call_id, "content": self.output}


Item = Message | Call | CallOutput


class Conversation:
    """In order; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._items: list[Item] = []

    def add(self, item: Item, after: str | None = None) -> str | None:
        """Returns the id of the item before it; None = it is the first. `after` None: at the end,
        "root": at the beginning.
        """
        if any(each.id == item.id for each in self._items):
            raise Refusal("There is an item '{key}' already.", field="id", key=item.id[:80])
        at = len(self._items)
        if after is not None:
            at = 0 if after == "root" else self._items.index(self.find(after)) + 1
        before = self._items[at - 1].id if at else None
        self._items.insert(at, item)
        sizes = [len(each.model_dump_json()) for each in self._items]
        while len(sizes) > _MOST_ITEMS or sum(sizes) > _MOST_CHARACTERS:
            del self._items[0], sizes[0]
        return before

    def find(self, key: str, known_as: str = Refusal.code) -> Item:
        """Refusal where there is none, see its `known_as`."""
        item = next((each for each in self._items if each.id == key), None)
        if item is None:
            raise Refusal("There is no item '{key}'.", status=404, known_as=known_as, key=key[:80])
        return item

    def remove(self, item: Item) -> None:
        self._items.remove(item)

    def messages(self, instructions: str) -> list[base.Message]:
        """What was said, for a model that answers with skills; calls are left out."""
        system = [base.Message(base.Role.SYSTEM, instructions)] if instructions else []
        return [*system, *(item.told for item in self._items if isinstance(item, Message))]

    def chat(self, instructions: str) -> list[ChatMessage]:
        """What was said, called and given, for a model that calls functions."""
        said = self.messages(instructions)
        system = "\n".join(each.text for each in said if each.role is base.Role.SYSTEM)
        chat: list[ChatMessage] = [{"role": "system", "content": system}] if system else []
        for item in self._items:
            if not isinstance(item, Message):
                chat.append(item.told)
            elif item.role != "system" and (text := told(item.told)):
                if chat and chat[-1]["role"] == item.role and "tool_calls" not in chat[-1]:
                    chat[-1]["content"] += f"\n{text}"
                else:
                    chat.append({"role": item.role, "content": text})
        return chat
