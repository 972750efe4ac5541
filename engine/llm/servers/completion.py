"""One streamed completion: events in; text, thoughts and calls out.

Invariant: pure. A completion is complete when the server says so in any known way: a reason for
ending, the last event of the stream after a reply, or the mark that ends the model's turn. Any JSON
of a server can be handled; fields of an unknown form are ignored. Each call of the model is
returned once, even if its name and id are in each fragment, it is delivered twice, or parallel
calls have the same index and no id.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from engine.characters import WholeCharacters, join_surrogates
from engine.llm.base import ThoughtDelta
from engine.llm.servers.client import DONE, Event
from engine.llm.tools.rounds import Piece
from engine.llm.tools.tags import TagSplitter
from engine.llm.tools.toolbox import ToolCall, new_call_id

MAX_CALLS = 16
MAX_ARGUMENTS_CHARS = 20_000
MAX_NAME_CHARS = 200
MAX_KEPT_CHARS = 100_000  # of the other fields of a call

# "functions.spell", "spell<|channel|>commentary", "functions.spell:0"
_PREFIX = re.compile(r"\s*(?:(?:functions|default_api|tools)[.:])*")
_AFTER_NAME = re.compile(r"(?:<\||:\d+\s*\Z).*", re.DOTALL)
_OWN_FIELDS = frozenset(("index", "id", "type", "function"))


@dataclass
class _PartialCall:
    index: int | None
    id: str
    name: str = ""
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    named_again: bool = False  # after its arguments were complete

    @property
    def is_whole(self) -> bool:
        return isinstance(_parsed(self.arguments), dict)


class CallParts:
    """Collects the fragments of the calls: JSON of the OpenAI chat format."""

    def __init__(self) -> None:
        self._growing: list[_PartialCall] = []

    def add(self, fragments: Iterable[Mapping[str, Any]]) -> None:
        for fragment in fragments:
            function = fragment.get("function")
            if not isinstance(function, Mapping):
                function = {}
            name, arguments = _packed(function.get("name")), _packed(function.get("arguments"))
            index, identifier = fragment.get("index"), _packed(fragment.get("id"))
            call = self._call(
                _PartialCall(index if isinstance(index, int) else None, identifier, name, arguments)
            )
            if call is None:
                continue
            _grow(call, name, arguments)
            extra = {key: each for key, each in fragment.items() if key not in _OWN_FIELDS}
            if extra and len(json.dumps(extra)) <= MAX_KEPT_CHARS:
                call.extra |= extra

    def calls(self) -> Iterator[ToolCall]:
        """Return the calls, in the order they began."""
        seen = set()
        for call in self._growing:
            name = _AFTER_NAME.sub("", _PREFIX.sub("", call.name, count=1)).strip()
            if (call.id, name, call.arguments) not in seen:
                seen.add((call.id, name, call.arguments))
                identifier = join_surrogates(call.id) or new_call_id()
                yield ToolCall(
                    identifier,
                    join_surrogates(name),
                    join_surrogates(call.arguments),
                    extra=call.extra,
                )

    def _call(self, fragment: _PartialCall) -> _PartialCall | None:
        """Return the call this fragment continues or begins; None when there are too many."""
        for call in reversed(self._growing):
            if _continues(call, fragment):
                return call
        if len(self._growing) >= MAX_CALLS:
            return None
        last = self._growing[-1] if self._growing else None
        name = last.name if last and last.named_again and not fragment.name else ""
        self._growing.append(_PartialCall(fragment.index, fragment.id, name))
        return self._growing[-1]


def _continues(call: _PartialCall, fragment: _PartialCall) -> bool:
    """Return whether a fragment belongs to this call."""
    if None not in (call.index, fragment.index) and call.index != fragment.index:
        return False
    if call.is_whole:
        return not _begins_another(call, fragment)
    if fragment.id and call.id not in ("", fragment.id):
        return not fragment.name  # some servers give each fragment an id of its own
    if call.id or not call.name or call.arguments:
        return True
    return fragment.name in ("", call.name) or not fragment.is_whole


def _begins_another(call: _PartialCall, fragment: _PartialCall) -> bool:
    """Return whether a fragment, not a repetition, begins the next call after a complete one."""
    if fragment.id not in ("", call.id):
        return bool(fragment.name)
    if call.name and fragment.name not in ("", call.name):
        return True
    begins = fragment.arguments.lstrip().startswith("{")
    named = bool(fragment.name) or call.named_again
    return begins and named and _parsed(fragment.arguments) != _parsed(call.arguments)


def _grow(call: _PartialCall, name: str, arguments: str) -> None:
    if call.is_whole:
        call.named_again = bool(name and call.name)
        call.name = call.name or name[:MAX_NAME_CHARS]
        return
    # The same name again, or all of it so far, or the next part.
    call.name = (name if name.startswith(call.name) else call.name + name)[:MAX_NAME_CHARS]
    call.arguments = (call.arguments + arguments)[:MAX_ARGUMENTS_CHARS]


def _parsed(text: str) -> object:
    """Return the value of complete JSON; None for other text."""
    if not text.rstrip().endswith("}"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _packed(value: object) -> str:
    """Return a text unchanged, null as "", any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value) if value else ""


# The standard has no field for thoughts: DeepSeek, llama-server and vLLM write the first, Ollama
# and OpenRouter the second.
THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought", "reasoning_details")
MAX_THOUGHT_CHARS = 200_000  # given back beside the calls


class Reported(Exception):
    """The server reported a fault with this `body`. `early`: before any part of a reply."""

    def __init__(self, body: object, *, early: bool) -> None:
        super().__init__(body)
        self.body = body
        self.early = early


class Completion:
    """`begins_thinking`: the prompt opens a thought. `most`: the limit of characters."""

    def __init__(self, *, begins_thinking: bool, most: int) -> None:
        self._splitter = TagSplitter(thinking=begins_thinking, assumed=begins_thinking)
        self._text = WholeCharacters()
        self._parts = CallParts()
        self._thoughts: dict[str, Any] = {}
        self._room = most
        self._finished = False
        self.is_reply = False  # there was anything of a reply
        self.grew = False  # the last event had text, a thought or a part of a call

    @property
    def is_complete(self) -> bool:
        return self._finished or self.is_over

    @property
    def is_over(self) -> bool:
        """True when the rest of the stream is not needed."""
        return self._room <= 0 or self._splitter.over

    @property
    def begins_thinking(self) -> bool:
        """True if the prompt has opened a thought, as the end of this reply shows."""
        return self._splitter.was_begun

    def take(self, event: Event) -> Iterator[Piece]:
        """Handle an event. Raises Reported."""
        if event.get("error"):
            raise Reported(event["error"], early=not self.is_reply)
        choice, self.grew = _first_choice(event), False
        if choice is not None:
            self.is_reply = True
            delta = choice.get("delta") or choice.get("message") or {}
            yield from self._grow(delta if isinstance(delta, Mapping) else {"content": delta})
            reason = choice.get("finish_reason")
            self._finished = self._finished or (isinstance(reason, str) and bool(reason))
        self._finished = self._finished or (DONE in event and self.is_reply)

    def _grow(self, delta: Mapping[str, Any]) -> Iterator[Piece]:
        calls = delta.get("tool_calls")
        calls = [calls] if isinstance(calls, Mapping) else calls or ()
        fragments = [each for each in calls if isinstance(each, Mapping)]
        if isinstance(delta.get("function_call"), Mapping):  # the name before there were tools
            fragments.append({"function": delta["function_call"]})
        self._parts.add(fragments)
        # Join the fields of thoughts, which some servers want back beside the calls.
        kept = {name: delta[name] for name in THOUGHTS if isinstance(delta.get(name), str | list)}
        for name, value in kept.items():
            so_far = self._thoughts.get(name, value[:0])
            if type(so_far) is type(value):
                self._thoughts[name] = (so_far + value)[:MAX_THOUGHT_CHARS]
        thoughts = filter(None, (_text(delta.get(name)) for name in THOUGHTS))
        pieces: list[str | ThoughtDelta] = [ThoughtDelta(each) for each in islice(thoughts, 1)]
        pieces += (*_pieces(delta.get("content")), *_pieces(delta.get("refusal")))
        self.grew = bool(pieces or fragments)
        for piece in pieces:
            yield from self._piece(piece)

    def end(self) -> Iterator[Piece]:
        """Yield the text that was held back until the end, and the calls."""
        yield from self._splitter.feed(self._text.end())
        yield from self._splitter.flush()
        thoughts = {name: each for name, each in self._thoughts.items() if each}
        for number, call in enumerate(self._parts.calls()):
            yield call if number else replace(call, thoughts=thoughts)

    def _piece(self, piece: str | ThoughtDelta) -> Iterator[Piece]:
        room = max(0, self._room)
        if isinstance(piece, ThoughtDelta):
            self._room -= len(piece.text)
            yield ThoughtDelta(piece.text[:room])
        else:
            self._room -= len(piece)
            yield from self._splitter.feed(self._text.push(piece[:room]))


def _first_choice(event: Event) -> Mapping[str, Any] | None:
    """Return the first choice of an event; None for usage and keep-alive events."""
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and not choice.get("index"):
            return choice
    return None


def _pieces(content: object) -> Iterator[str | ThoughtDelta]:
    """Yield the text, or parts of a text, some of which may be thoughts."""
    for part in content if isinstance(content, list) else [content]:
        text = _text(part)
        kind = part.get("type") if isinstance(part, Mapping) else ""
        thought = isinstance(kind, str) and ("think" in kind or "reason" in kind)
        if text:
            yield ThoughtDelta(text) if thought else text


def _text(value: object) -> str:
    """Return the text of a value: its own, or that of its parts."""
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
