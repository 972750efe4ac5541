"""What one event of a stream says of the reply.

Invariant: whatever JSON a server sends, a chunk is made of it; what has an unknown form says
nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.llm.base import ThoughtDelta

# The standard has no field for what a model thinks: DeepSeek, llama-server and vLLM write the
# first, Ollama and OpenRouter the second.
THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought", "reasoning_details")


@dataclass(frozen=True)
class Chunk:
    """Text and thoughts, fragments of calls, whether there was anything of a reply (`is_reply`),
    and whether it ends with a reason.
    """

    pieces: tuple[str | ThoughtDelta, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()
    is_reply: bool = False
    finished: bool = False


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
