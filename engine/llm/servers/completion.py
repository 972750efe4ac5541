"""One completion while it is streamed: events in, text, thoughts and calls out.

Invariant: pure. It is complete when the server has said so in any of the ways there are: a reason
for ending, the last event of all behind a reply, or the mark of a model's turn that is over.
Whatever JSON a server sends, a chunk is made of it; what has an unknown form says nothing.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.characters import WholeCharacters, whole
from engine.llm.base import ThoughtDelta
from engine.llm.servers.events import DONE, Event
from engine.llm.servers.faults import own_words
from engine.llm.tools.rounds import Piece
from engine.llm.tools.tagged_calls import tool_calls
from engine.llm.tools.tags import THINK, TagSplitter
from engine.llm.tools.toolbox import ToolCall

# The standard has no field for what a model thinks: DeepSeek, llama-server and vLLM write the
# first, Ollama and OpenRouter the second.
THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought", "reasoning_details")


@dataclass(frozen=True)
class Chunk:
    """What one event says of the reply: text and thoughts, fragments of calls, whether there was
    anything of a reply (`is_reply`), and whether it ends with a reason.
    """

    pieces: tuple[str | ThoughtDelta, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()
    is_reply: bool = False
    finished: bool = False


MAX_CALLS = 16
MAX_ARGUMENTS_CHARS = 20_000
MAX_NAME_CHARS = 200


class Reported(Exception):
    """The server's own words about what went wrong."""


class Completion:
    """`begins_thinking`: the prompt opens a thought, as the reply before has shown. `most`: how
    many characters are taken.
    """

    def __init__(self, *, begins_thinking: bool, most: int) -> None:
        self._splitter = TagSplitter(THINK if begins_thinking else None, assumed=begins_thinking)
        self._text = WholeCharacters()
        self._parts = _CallParts()
        self._room = most
        self._finished = False
        self.is_reply = False  # there was anything of a reply

    @property
    def is_complete(self) -> bool:
        return self._finished or self.is_over

    @property
    def is_over(self) -> bool:
        """Whether what follows is not wanted any more."""
        return self._room <= 0 or self._splitter.over

    @property
    def begins_thinking(self) -> bool:
        """Whether the prompt has opened a thought, as this reply shows in its end."""
        return self._splitter.was_begun

    def take(self, event: Event) -> Iterator[Piece]:
        """Raises Reported."""
        if event.get("error"):
            raise Reported(own_words(event["error"]))
        found = chunk(event)
        self.is_reply = self.is_reply or found.is_reply
        self._finished = self._finished or found.finished or (DONE in event and self.is_reply)
        self._parts.add(found.calls)
        for piece in found.pieces:
            yield from self._piece(piece)

    def end(self) -> Iterator[Piece]:
        """What was held back until the end."""
        yield from tool_calls(self._splitter.feed(self._text.end()))
        yield from tool_calls(self._splitter.flush())
        yield from self._parts.calls()

    def _piece(self, piece: str | ThoughtDelta) -> Iterator[Piece]:
        room = max(0, self._room)
        if isinstance(piece, ThoughtDelta):
            self._room -= len(piece.text)
            yield ThoughtDelta(piece.text[:room])
        else:
            self._room -= len(piece)
            yield from tool_calls(self._splitter.feed(self._text.push(piece[:room])))


@dataclass
class _Growing:
    index: int
    id: str
    name: str = ""
    arguments: str = ""


class _CallParts:
    """Collects the `tool_calls` of every chunk of one stream. Fragments of one call have one index,
    except that a new id always begins a new call (Ollama has sent several calls under index 0).
    """

    def __init__(self) -> None:
        self._growing: list[_Growing] = []

    def add(self, fragments: Iterable[Mapping[str, Any]]) -> None:
        """Fragments as in the JSON of the OpenAI chat format."""
        for fragment in fragments:
            index, function = fragment.get("index"), fragment.get("function")
            identifier = _packed(fragment.get("id"))
            call = self._call(index if isinstance(index, int) else 0, identifier)
            if call is None or not isinstance(function, Mapping):
                continue
            call.name = (call.name + _packed(function.get("name")))[:MAX_NAME_CHARS]
            arguments = call.arguments + _packed(function.get("arguments"))
            call.arguments = arguments[:MAX_ARGUMENTS_CHARS]

    def calls(self) -> Iterator[ToolCall]:
        """The calls, in the order they began."""
        for number, call in enumerate(self._growing):
            identifier = whole(call.id) or f"call-{number}"
            yield ToolCall(identifier, whole(call.name), whole(call.arguments))

    def _call(self, index: int, identifier: str) -> _Growing | None:
        """The call this fragment continues or begins; None when there are too many."""
        for call in reversed(self._growing):
            if call.index == index and (not identifier or identifier == call.id):
                return call
        if len(self._growing) >= MAX_CALLS:
            return None
        self._growing.append(_Growing(index, identifier))
        return self._growing[-1]


def _packed(value: object) -> str:
    """A text as it is, null as none, anything else (arguments that were not packed) as JSON."""
    return value if isinstance(value, str) else json.dumps(value) if value else ""


def chunk(event: Mapping[str, Any]) -> Chunk:
    """The first choice of an event; usage and keep-alive events have none."""
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and not choice.get("index"):
            return _chunk(choice)
    return Chunk()


def _chunk(choice: Mapping[str, Any]) -> Chunk:
    delta = choice.get("delta") or choice.get("message") or {}
    if not isinstance(delta, Mapping):
        delta = {"content": delta}
    thoughts = (_text(delta.get(name)) for name in THOUGHTS)
    thought = next(filter(None, thoughts), "")
    content = [*_pieces(delta.get("content")), *_pieces(delta.get("refusal"))]
    pieces = [ThoughtDelta(thought), *content] if thought else content
    calls = delta.get("tool_calls")
    fragments = [each for each in calls if isinstance(each, Mapping)] if calls else []
    if isinstance(delta.get("function_call"), Mapping):  # as it was called before tools
        fragments.append({"function": delta["function_call"]})
    reason = choice.get("finish_reason")
    return Chunk(tuple(pieces), tuple(fragments), True, isinstance(reason, str) and bool(reason))


def _pieces(content: object) -> Iterator[str | ThoughtDelta]:
    """A text, or parts of one, some of which may be thought."""
    for part in content if isinstance(content, list) else [content]:
        text = _text(part)
        kind = part.get("type") if isinstance(part, Mapping) else ""
        thought = isinstance(kind, str) and ("think" in kind or "reason" in kind)
        if text:
            yield ThoughtDelta(text) if thought else text


def _text(value: object) -> str:
    """The text of a value: its own, or that of its parts."""
    match value:
        case str():
            return value
        case list():
            return "".join(map(_text, value))
        case Mapping():
            fields = ("text", "content", "thinking", "reasoning", "summary")
            return next(filter(None, (_text(value.get(name)) for name in fields)), "")
        case _:
            return ""
