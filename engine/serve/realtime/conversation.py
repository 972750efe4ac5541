"""The items of a conversation, and what a language model is told of them.

Invariant: of what was spoken to the client, the history has the words that it heard and no more.
"""

import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from engine.llm.base import Message, Role
from engine.llm.history import ChatMessage, told
from engine.serve.answers import BadField, Fields, NotFound, number_of, text_of
from engine.serve.speech import Speech

_MOST_ITEMS: Final = 400
_MOST_CHARACTERS: Final = 200_000
_ROLES: Final = {"user": Role.USER, "system": Role.SYSTEM, "assistant": Role.ASSISTANT}
_TEXTS: Final = ("input_text", "output_text", "text")
_SPOKEN: Final = ("input_audio", "output_audio", "audio")
_LONGEST_MS: Final = 3_600_000


def new_key(kind: str) -> str:
    """An id as clients expect it."""
    return f"{kind}_{secrets.token_hex(12)}"


@dataclass
class Item:
    """A message, a call of a function of the client's, or what that gave. `content` is the kind of
    its one part; `speech` is how a message was spoken, None = it was not.
    """

    key: str
    kind: str = "message"
    role: str = "user"
    content: str = "input_text"
    text: str = ""
    status: str = "completed"
    call: dict[str, str] = field(default_factory=dict)  # call_id, name, arguments
    speech: Speech | None = None
    interrupted: bool = False

    def fields(self) -> dict[str, Any]:
        """As it is told to the client."""
        about = {"id": self.key, "object": "realtime.item", "type": self.kind}
        about["status"] = self.status
        if self.kind == "function_call":
            return {**about, **self.call}
        if self.kind == "function_call_output":
            return {**about, "call_id": self.call["call_id"], "output": self.text}
        content = [self.part()] if self.text or self.status == "completed" else []
        return {**about, "role": self.role, "content": content}

    def part(self) -> dict[str, Any]:
        """Its content."""
        name = "transcript" if self.content in _SPOKEN else "text"
        return {"type": self.content, name: self.text}

    def truncate(self, at_ms: int) -> None:
        """The client has heard it up to here. InvalidInput where there is no such moment."""
        if self.speech is None:
            raise BadField("item_id", "Only what was spoken can be truncated.")
        if at_ms > self.speech.given_ms:
            raise BadField(
                "audio_end_ms",
                "Its sound has only {length} ms so far.",
                length=self.speech.given_ms,
            )
        self.text = self.speech.text_until(at_ms)
        self.interrupted = True


class Conversation:
    """In order; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._items: list[Item] = []

    def add(self, item: Item, after: str | None = None) -> str | None:
        """Returns the id of the item before it; None = it is the first. `after` None: at the end,
        "root": at the beginning.
        """
        if any(each.key == item.key for each in self._items):
            raise BadField("id", "There is an item '{key}' already.", key=item.key[:80])
        at = len(self._items)
        if after == "root":
            at = 0
        elif after is not None:
            at = self._items.index(self.find(after)) + 1
        self._items.insert(at, item)
        while len(self._items) > _MOST_ITEMS or self._characters() > _MOST_CHARACTERS:
            del self._items[0]
        return self._items[at - 1].key if 0 < at <= len(self._items) else None

    def find(self, key: str) -> Item:
        """NotFound where there is none."""
        item = next((each for each in self._items if each.key == key), None)
        if item is None:
            raise NotFound("There is no item '{key}'.", key=key[:80])
        return item

    def remove(self, key: str) -> None:
        self._items.remove(self.find(key))

    def messages(self, instructions: str) -> list[Message]:
        """What was said, for a model that answers with skills; calls are not told."""
        system = [Message(Role.SYSTEM, instructions)] if instructions else []
        said = [_message(item) for item in self._items if item.kind == "message"]
        return [*system, *said]

    def chat(self, instructions: str) -> list[ChatMessage]:
        """What was said, called and given, for a model that calls functions."""
        said = self.messages(instructions)
        system = "\n".join(each.text for each in said if each.role is Role.SYSTEM)
        chat: list[ChatMessage] = [{"role": "system", "content": system}] if system else []
        for item in self._items:
            if item.kind == "function_call":
                chat.append(_call(item))
            elif item.kind == "function_call_output":
                chat.append(_output(item))
            elif item.role != "system" and (text := told(_message(item))):
                if chat and chat[-1]["role"] == item.role and "tool_calls" not in chat[-1]:
                    chat[-1]["content"] += f"\n{text}"
                else:
                    chat.append({"role": item.role, "content": text})
        return chat

    def _characters(self) -> int:
        return sum(len(item.text) for item in self._items)


def read_item(fields: Fields) -> Item:
    """An item that a client gives. InvalidInput for one that cannot be used."""
    key = text_of(fields, "id") or new_key("item")
    match text_of(fields, "type"):
        case "message":
            role = text_of(fields, "role")
            if role not in _ROLES:
                raise BadField("role", "'role' is user, assistant or system.")
            content, text = _content(fields)
            return Item(key, role=role, content=content, text=text)
        case "function_call":
            names = ("call_id", "name", "arguments")
            call = {name: text_of(fields, name) for name in names}
            return Item(key, "function_call", "assistant", call=call)
        case "function_call_output":
            call = {"call_id": text_of(fields, "call_id")}
            return Item(key, "function_call_output", text=text_of(fields, "output"), call=call)
        case kind:
            raise BadField("type", "There are no items '{kind}' here.", kind=kind[:40])


def _content(fields: Fields) -> tuple[str, str]:
    """The kind and the text of the parts."""
    parts = fields.get("content")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise BadField("content", "'content' has to be a list of parts.")
    texts, kind = [], "input_text"
    for part in parts:
        kind = text_of(part, "type")
        if kind not in (*_TEXTS, *_SPOKEN):
            raise BadField("content", "There are no parts '{kind}' here.", kind=kind[:40])
        texts.append(text_of(part, "transcript" if kind in _SPOKEN else "text"))
    return kind, " ".join(filter(None, texts))


def truncation(fields: Fields) -> int:
    """Up to where (ms) something was heard."""
    at_ms = number_of(fields, "audio_end_ms", 0, _LONGEST_MS)
    if at_ms is None:
        raise BadField("audio_end_ms", "Say where in the sound: 'audio_end_ms'.")
    return round(at_ms)


def _message(item: Item) -> Message:
    return Message(_ROLES[item.role], item.text, interrupted=item.interrupted)


def _call(item: Item) -> ChatMessage:
    function = {"name": item.call["name"], "arguments": item.call["arguments"]}
    call = {"id": item.call["call_id"], "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _output(item: Item) -> ChatMessage:
    return {"role": "tool", "tool_call_id": item.call["call_id"], "content": item.text}
