"""A reply of a language model that may use the skills: the same for every kind of model.

Invariant: a model is asked at most MAX_TOOL_ROUNDS + 1 times for one reply and has limited time for
every word, and a reply that ends without an error has said or done something.

A sentence that a skill understands with certainty ("slower", "convert ten miles to kilometres") is
answered by the skill before the model is asked: the answer is right, it comes at once, and this
works with small models that do not support tools. Tools are for the sentences that the rules do not
understand.
"""

import json
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from typing import Protocol, runtime_checkable

from engine.errors import LanguageModelError
from engine.llm.base import (
    Delta,
    Deltas,
    GetState,
    Message,
    Remark,
    Retraction,
    StillLoading,
    StopSpeaking,
    TextDelta,
    ThoughtDelta,
)
from engine.llm.history import ChatMessage, chat_messages, without_private
from engine.llm.skills.matching.intent import SkillContext
from engine.llm.skills.model import Skills, deltas
from engine.llm.tools.toolbox import (
    ToolCall,
    ToolResult,
    ToolSchema,
    new_call_id,
    parsed_arguments,
    run,
)

MAX_TOOL_ROUNDS = 3  # enough for "set a timer for as long as an egg takes"; stops a model in a loop
MAX_CALLS_A_ROUND = 8
MAX_NAME_CHARS = 64  # of a function, as OpenAI allows
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
# A model may think, and a slow machine needs long to read; a longer wait for the next word is
# useless in a conversation.
WITHOUT_TEXT_S = 120.0

# A model streams pieces: text ("" means that it is still working), thoughts, remarks and calls.
Piece = str | ThoughtDelta | Retraction | StillLoading | Remark | ToolCall
Pieces = Generator[Piece, None, None]
Stream = Callable[[list[ChatMessage]], Iterator[Piece]]


@runtime_checkable
class Completer(Protocol):
    """A language model that accepts other tools than the skills; its caller runs the calls."""

    def complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema] | None = None
    ) -> Pieces:
        """One completion. `tools` None: the skills'. Raises LanguageModelError."""
        ...


def reply(
    stream: Stream,
    skills: Skills,
    system_prompt: str,
    history: Sequence[Message],
    state: GetState,
    *,
    remote: bool = False,
) -> Deltas:
    """Answer the last user message, by a skill if one is sure, otherwise by one completion or more
    that `stream` starts. A `remote` model gets nothing private. Raises LanguageModelError.
    """
    answer = skills.certain_answer(history, state)
    if answer is not None:
        yield from deltas(answer)
        return
    messages = chat_messages(without_private(history) if remote else history, system_prompt)
    yield from _Rounds(stream, skills.context(history, state)).run(messages)


class _Rounds:
    """The rounds of one reply: whether it has text yet, and since when."""

    def __init__(self, stream: Stream, context: SkillContext) -> None:
        self._stream = stream
        self._context = context
        self._said = False
        self._loading_told = False
        self._calls: list[ToolCall] = []
        self._text = ""  # of this round
        self._said_at = time.monotonic()

    def run(self, messages: list[ChatMessage]) -> Iterator[Delta]:
        results: list[ToolResult] = []
        for round_number in range(MAX_TOOL_ROUNDS + 1):
            yield from self._spoken(self._stream(messages))
            if not self._calls or round_number == MAX_TOOL_ROUNDS:
                break
            results = [run(call, self._context) for call in self._calls[:MAX_CALLS_A_ROUND]]
            for result in results:
                yield from result.answer.actions
            if any(StopSpeaking() in result.answer.actions for result in results):
                return
            messages = [*messages, *_call_messages(self._text, results)]
        if self._said:
            return
        # If the model wrote no text, the skills' answers are spoken.
        text = " ".join(result.answer.text for result in results if result.answer.text)
        if not text:
            raise LanguageModelError(
                "The language model gave no answer.", hint="Ask again, or choose another model."
            )
        yield TextDelta(text)

    def _spoken(self, pieces: Iterator[Piece]) -> Iterator[Delta]:
        """Yield the text of one round; its calls are collected in _calls."""
        self._calls, self._text = [], ""
        fresh = True
        for piece in pieces:
            if time.monotonic() - self._said_at > WITHOUT_TEXT_S:
                raise LanguageModelError(
                    "The language model found no words for {seconds} seconds.",
                    hint="Ask again, or choose a model that is quicker or thinks less.",
                    seconds=f"{WITHOUT_TEXT_S:g}",
                )
            if isinstance(piece, ToolCall):
                self._calls.append(piece)
                continue
            if not isinstance(piece, str):
                fresh = fresh or isinstance(piece, Retraction)
                yield self._aside(piece)
                continue
            self._text += piece
            text = piece.lstrip() if fresh else piece
            if text and fresh and self._said:
                text = f" {text}"
            fresh = fresh and not text
            if text:
                self._said, self._said_at = True, time.monotonic()
            yield TextDelta(text)

    def _aside(self, piece: ThoughtDelta | Retraction | StillLoading | Remark) -> Delta:
        """Return a piece that is not text; StillLoading only once, and without its time."""
        if isinstance(piece, Retraction):
            self._said, self._text = False, ""
        if isinstance(piece, StillLoading):
            self._said_at = time.monotonic()
            told, self._loading_told = self._loading_told, True
            return TextDelta("") if told else piece
        return piece


def _call_messages(text: str, results: list[ToolResult]) -> Iterator[ChatMessage]:
    """Yield the assistant's message with the calls, and one with each result, in the OpenAI format.
    The server gets its fields back, except for empty content, arguments that are not an object, and
    a repeated id, which strict servers refuse.
    """
    ids: list[str] = []
    for each in results:
        ids.append(each.call.id if each.call.id not in ("", *ids) else new_call_id())
    thoughts = {name: value for each in results for name, value in each.call.thoughts.items()}
    calls = [
        {"id": id_, "type": "function", "function": _function(each.call), **each.call.extra}
        for id_, each in zip(ids, results, strict=True)
    ]
    yield {"role": "assistant", "content": text.strip() or None, "tool_calls": calls, **thoughts}
    for id_, each in zip(ids, results, strict=True):
        name = _function(each.call)["name"]
        yield {"role": "tool", "tool_call_id": id_, "name": name, "content": each.text}


def _function(call: ToolCall) -> dict[str, str]:
    name = _NOT_IN_NAMES.sub("_", call.name)[:MAX_NAME_CHARS] or "unknown"
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(call.arguments), dict):
            return {"name": name, "arguments": call.arguments}
    return {"name": name, "arguments": json.dumps(parsed_arguments(call.arguments) or {})}
