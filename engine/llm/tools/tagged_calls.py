"""Parse the tool calls that models write into their text, each in the format of its maker: JSON as
Hermes introduced and Qwen, Llama and Mistral follow, tags as in <function=spell><parameter=word>, a
name and then JSON (DeepSeek, Kimi, gpt-oss), or a name and then pairs (GLM).

Invariant: a call that cannot be parsed is still a call, with its text as arguments; the toolbox
reports the error to the model.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from engine.characters import join_surrogates
from engine.llm.tools import tags
from engine.llm.tools.json_calls import calls_in
from engine.llm.tools.rounds import Piece
from engine.llm.tools.toolbox import ToolCall, new_call_id

_HEAD = re.compile(
    r"<(?:[\w.-]+:)?(?:function\s*=|invoke\s+name\s*=)\s*[\"']?([\w.-]+)[\"']?[^>]*>"
)
_PAIR = re.compile(
    r"<(?:parameter|param)(?:\s*=\s*|\s+name\s*=\s*)[\"']?([\w.-]+)[\"']?[^>]*>"
    r"(.*?)(?=</?(?:parameter|param|function|invoke)\b|\Z)"
    r"|<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)",
    re.DOTALL,
)
_NEXT = re.compile(
    r"<[|\uff5c]\s*tool[_▁]call[_▁]begin\s*[|\uff5c]>|;(?=\s*(?:functions\.)?\w+\s*\()"
)
_NOISE = re.compile(r"<[|\uff5c][^<>]*>|\[(?:ARGS|CALL_ID)\]|```\w*|^\s*function\b", re.MULTILINE)
_NAMED = re.compile(
    r"\s*(?:call:|functions\.|default_api\.)*([A-Za-z_][\w-]*)(?:[.:]\d+)?(.*)", re.DOTALL
)
_BEGINS_ARGUMENTS = re.compile(r"(?:json|code)?\s*[{(<]|\Z")


def tool_calls(pieces: Iterable[tags.Piece]) -> Iterator[Piece]:
    """Yield text and thoughts unchanged, and a tag's body as the calls it contains."""
    for piece in pieces:
        if not isinstance(piece, tags.Tagged):
            yield piece
            continue
        body = piece.body
        found = _in_json(body) or _in_tags(body) or _by_name(body) or [("", body)]
        for name, arguments in found:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield ToolCall(new_call_id(), join_surrogates(name), join_surrogates(text))


def _in_json(body: str) -> list[tuple[str, Any]]:
    """Parse JSON values with white space or commas between them."""
    calls: list[tuple[str, Any]] = []
    at = len(body) - len(body.lstrip())
    while at < len(body):
        value, end = _value(body, at)
        found = calls_in(value, marked=True)
        if not found:
            break
        calls += found
        at = end + len(body[end:]) - len(body[end:].lstrip(" \t\r\n,;"))
    return calls


def _in_tags(body: str) -> list[tuple[str, Any]]:
    heads = list(_HEAD.finditer(body))
    ends = [*(head.start() for head in heads), len(body)]
    parts = [body[head.end() : end] for head, end in zip(heads, ends[1:], strict=True)]
    return [(head[1], _arguments(part)) for head, part in zip(heads, parts, strict=True)]


def _by_name(body: str) -> list[tuple[str, Any]]:
    """Parse names with their arguments behind them."""
    calls = []
    for part in _NEXT.split(body):
        match = _NAMED.fullmatch(_NOISE.sub(" ", part))
        rest = match[2].strip() if match else ""
        if match and _BEGINS_ARGUMENTS.match(rest):
            calls.append((match[1], _arguments(rest)))
    return calls


def _arguments(text: str) -> Any:
    """Parse JSON, or pairs of tags; any other text gives no arguments."""
    if "{" in text:
        value, _ = _value(text, text.index("{"))
        if isinstance(value, dict):
            return value
    return {
        (name or key).strip(): (text if name else other).strip()
        for name, text, key, other in _PAIR.findall(text)
    }


def _value(text: str, at: int) -> tuple[Any, int]:
    """Return the JSON value at this position, and its end; None if it is invalid."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, len(text)
