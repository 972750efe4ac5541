"""Session and conversation of a client of the Realtime interface, and their form for a model.

Invariant: a session never changes; a valid update makes a new one, an invalid one makes none.
Settings that this server does not know are refused where a client would notice (formats, voices);
elsewhere they are stored without effect and sent back. Of a spoken answer, the history contains
only the words that the client heard.
"""

import secrets
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from engine.llm import base
from engine.llm.history import ChatMessage, add_text, marked_text
from engine.llm.tools.toolbox import ToolSchema
from engine.runtime.turn.waiting import Patience
from engine.serve.doors.requests import (
    Fields,
    LeadMs,
    Paced,
    Refusal,
    Speed,
    Strict,
    Text,
    VoiceName,
    Wire,
    checked,
)
from engine.serve.service import LEAD_MS, SAMPLE_RATE, Speech

_PATIENCE: Final = {"low": "patient", "medium": "balanced", "auto": "balanced", "high": "quick"}
_MOST_TOOLS: Final = 64
_MOST_PARTS: Final = 64
_MOST_ITEMS: Final = 400
_MOST_CHARACTERS: Final = 200_000


def new_key(kind: str) -> str:
    """Return an id in the form that clients expect."""
    return f"{kind}_{secrets.token_hex(12)}"


# --------------------------------------------------------------------------- its settings


class SoundFormat(Wire):
    """The only supported format."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: Literal[24_000] = SAMPLE_RATE


class TurnDetection(Wire):
    """How the end of a client's turn is detected: by silence, or (semantic) by its words."""

    type: Literal["server_vad", "semantic_vad"] = "server_vad"
    silence_duration_ms: Annotated[int, Field(ge=32, le=10_000)] = 500
    create_response: bool = True
    interrupt_response: bool = True
    eagerness: Literal["low", "medium", "auto", "high"] = "auto"

    @property
    def semantic(self) -> bool:
        return self.type == "semantic_vad"

    @property
    def patience(self) -> Patience:
        if self.semantic:
            return Patience.of(_PATIENCE[self.eagerness])
        return Patience(self.silence_duration_ms)


class Transcription(Wire):
    """Whether and how a client's words are sent back to it."""

    language: Text = ""


class AudioInput(Strict):
    """`transcription` None: words are not sent back; `turn_detection` None: the client itself ends
    its utterances.
    """

    format: SoundFormat | None = SoundFormat()
    transcription: Transcription | None = None
    turn_detection: TurnDetection | None = TurnDetection()

    @property
    def language(self) -> str:
        return self.transcription.language if self.transcription else ""


class AudioOutput(Paced):
    """Settings of the speech to the client."""

    format: SoundFormat = SoundFormat()
    voice: VoiceName = ""
    speed: Speed | None = 1.0
    lead_ms: LeadMs = LEAD_MS


class Audio(Wire):
    """Both directions."""

    input: AudioInput = AudioInput()
    output: AudioOutput = AudioOutput()


class Tool(Wire):
    """A function of the client."""

    type: Literal["function"]
    name: Text
    description: Text | None = None
    parameters: dict[str, Any] | None = None


class Session(Wire):
    """The settings of a client; `id` is assigned by this server. A transcription session does not
    answer.
    """

    type: Literal["realtime", "transcription"] = "realtime"
    object: Literal["realtime.session"] = "realtime.session"
    id: str = Field(default_factory=partial(new_key, "sess"))
    model: str = "rubato"
    output_modalities: list[Literal["audio", "text"]] = Field(
        default=["audio"], min_length=1, max_length=2
    )
    instructions: Text = ""
    audio: Audio = Audio()
    tools: list[Tool] = Field(default=[], max_length=_MOST_TOOLS)
    tool_choice: Any = "auto"

    def changed(self, changes: Fields) -> "Session":
        """Apply a session.update or response.create. Refusal of values that cannot be used."""
        fixed = {name: getattr(self, name) for name in ("id", "object")}
        return checked(Session, {**_merged(self.model_dump(), changes), **fixed})

    @property
    def answers(self) -> bool:
        return self.type == "realtime"

    @property
    def transcribes(self) -> bool:
        """Whether the client gets transcripts of its speech."""
        return self.audio.input.transcription is not None or not self.answers

    def functions(self) -> tuple[ToolSchema, ...]:
        """Return the client's functions, in the form for language models."""
        tools = [] if self.tool_choice == "none" else self.tools
        named = (tool.model_dump(exclude={"type"}, exclude_none=True) for tool in tools)
        return tuple({"type": "function", "function": each} for each in named)


def _merged(old: Any, new: Any) -> Any:
    """Merge objects field by field; replace everything else."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    return {**old, **{name: _merged(old.get(name), value) for name, value in new.items()}}


# --------------------------------------------------------------------------- what is said


class Part(Wire):
    """One part of a message; a spoken one has a transcript, a written one a text. `audio`: sound in
    base64 without a transcript; it is not stored.
    """

    model_config = ConfigDict(extra="ignore")  # unknown fields are common

    type: Literal["input_text", "output_text", "text", "input_audio", "output_audio", "audio"]
    text: Text | None = None
    transcript: Text | None = None
    audio: str | None = Field(default=None, exclude=True)

    @property
    def said(self) -> str:
        return self.transcript or self.text or ""

    @said.setter
    def said(self, text: str) -> None:
        setattr(self, "transcript" if "audio" in self.type else "text", text)


class _Item(Wire):
    model_config = ConfigDict(extra="ignore")

    id: Text = Field(default_factory=partial(new_key, "item"))
    object: Literal["realtime.item"] = "realtime.item"
    status: Literal["in_progress", "completed", "incomplete"] = "completed"

    def shown(self) -> Fields:
        """Return the item for the client."""
        return self.model_dump(exclude_none=True)

    def truncate(self, at_ms: int) -> None:
        """The client has heard it up to here. Refusal for an invalid moment."""
        raise Refusal("Only what was spoken can be truncated.", field="item_id")


class Message(_Item):
    """A message of user or assistant. `interrupted`: the client did not hear all of it."""

    type: Literal["message"] = "message"
    role: Literal["user", "system", "assistant"]
    content: Annotated[list[Part], Field(max_length=_MOST_PARTS)]
    _speech: Speech | None = None  # how it was spoken; None = it was not
    _interrupted: bool = False

    @property
    def said(self) -> str:
        return " ".join(filter(None, (part.said for part in self.content)))

    @property
    def chat_message(self) -> base.Message:
        """The message for language models."""
        return base.Message(base.Role(self.role), self.said, interrupted=self._interrupted)

    def unheard(self) -> dict[int, str]:
        """Return the sound of the parts without a transcript, by index."""
        parts = [part if "audio" in part.type and not part.said else None for part in self.content]
        return {at: part.audio for at, part in enumerate(parts) if part and part.audio}

    def spoken_by(self, speech: Speech | None) -> None:
        self._speech = speech

    def grow(self, text: str) -> None:
        """Add text to its only part."""
        if not self._interrupted:
            self.content[0].said += text

    def truncate(self, at_ms: int) -> None:
        if self._speech is None:
            super().truncate(at_ms)
        elif at_ms > (given_ms := self._speech.given_ms):
            raise Refusal(
                "Its sound is only {length} ms long so far.", field="audio_end_ms", length=given_ms
            )
        else:
            self.content[0].said = self._speech.text_until(at_ms)
            self._interrupted = True

    def interrupt(self) -> None:
        """Truncate to the sound that was sent, at most which the client has heard."""
        if self._speech is not None and not self._interrupted:
            self.truncate(self._speech.given_ms)


class Call(_Item):
    """A call of a client's function."""

    type: Literal["function_call"] = "function_call"
    call_id: Text
    name: Text
    arguments: Text = ""

    @property
    def chat_message(self) -> ChatMessage:
        function = {"name": self.name, "arguments": self.arguments}
        call = {"id": self.call_id, "type": "function", "function": function}
        return {"role": "assistant", "content": "", "tool_calls": [call]}


class CallOutput(_Item):
    """The result of a function."""

    type: Literal["function_call_output"]
    call_id: Text
    output: Text = ""

    @property
    def chat_message(self) -> ChatMessage:
        return {"role": "tool", "tool_call_id": self.call_id, "content": self.output}


Item = Message | Call | CallOutput


class Conversation:
    """Items in order; the oldest are dropped when their number or length exceeds a limit."""

    def __init__(self) -> None:
        self._items: list[Item] = []

    def add(self, item: Item, after: str | None = None) -> str | None:
        """Add an item; return the id of the one before it, None = it is the first. `after` None: at
        the end, "root": at the beginning. Refusal of an item that exceeds the limit alone.
        """
        if len(item.model_dump_json()) > _MOST_CHARACTERS:
            most = _MOST_CHARACTERS
            raise Refusal("An item may have at most {most} characters.", field="item", most=most)
        if any(each.id == item.id for each in self._items):
            raise Refusal("An item '{key}' already exists.", field="id", key=item.id[:80])
        at = len(self._items)
        if after is not None:
            at = 0 if after == "root" else self._items.index(self.find(after)) + 1
        before = self._items[at - 1].id if at else None
        self._items.insert(at, item)
        sizes = [len(each.model_dump_json()) for each in self._items]
        while len(sizes) > _MOST_ITEMS or sum(sizes) > _MOST_CHARACTERS:
            oldest = 1 if self._items[0] is item else 0
            del self._items[oldest], sizes[oldest]
        return before

    def find(self, key: str, known_as: str = Refusal.code) -> Item:
        """Return the item with this id. Refusal for an unknown one, see its `known_as`."""
        for item in self._items:
            if item.id == key:
                return item
        raise Refusal("No item has the id '{key}'.", status=404, known_as=known_as, key=key[:80])

    def remove(self, item: Item) -> None:
        self._items.remove(item)

    def messages(self, instructions: str) -> list[base.Message]:
        """Return the messages, without calls, for a model that answers with skills."""
        system = [base.Message(base.Role.SYSTEM, instructions)] if instructions else []
        return [*system, *(item.chat_message for item in self._items if isinstance(item, Message))]

    def chat(self, instructions: str) -> list[ChatMessage]:
        """Return the items as messages for a model that calls functions. Strict servers require
        every result directly after its call, and refuse a call without one.
        """
        said = self.messages(instructions)
        system = "\n".join(each.text for each in said if each.role is base.Role.SYSTEM)
        chat: list[ChatMessage] = [{"role": "system", "content": system}] if system else []
        results = {item.call_id: item for item in self._items if isinstance(item, CallOutput)}
        for item in self._items:
            if isinstance(item, Call) and item.call_id in results:
                chat += [item.chat_message, results[item.call_id].chat_message]
            elif isinstance(item, Message) and item.role != "system":
                add_text(chat, item.role, marked_text(item.chat_message))
        return chat
