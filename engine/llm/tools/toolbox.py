"""Calls of tools: parsed from a model's text, and run, which are the skills as functions.

Models write calls in the format of their maker: JSON as Hermes introduced and Qwen, Llama and
Mistral follow, tags as in <function=spell><parameter=word>, a name and then JSON (DeepSeek, Kimi,
gpt-oss), or a name and then pairs (GLM). A bare JSON object may be a call or an answer.

Invariant: a call that cannot be parsed is still a call, with its text as arguments. Only text that
may still become a call is held back, and at most MAX_CHARS of it. Running any call returns a text
for the model and never raises; no tool reads a file or uses the network.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from engine.characters import join_surrogates
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.intent import Answer, SkillContext, Tool
from engine.llm.skills.matching.repertoire import repertoire
from engine.llm.tools.mark_reader import MoreNeeded

MAX_ARGUMENT_CHARS = 500

ToolSchema = dict[str, Any]  # JSON of the OpenAI tools format


@dataclass(frozen=True)
class ToolCall:
    """One call as a model wrote it; `arguments` should be a JSON object but may be anything.
    `extra` are its other fields, `thoughts` those of its message: a server may want both back.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    thoughts: Mapping[str, Any] = field(default_factory=dict, hash=False)


def new_call_id() -> str:
    """Return an id of nine letters and digits, the only form that Mistral accepts."""
    return secrets.token_hex(5)[:9]


@dataclass(frozen=True)
class ToolResult:
    """`text` is for the model; `answer` contains the skill's sentence and its actions."""

    call: ToolCall
    text: str
    answer: Answer = field(default_factory=Answer)


@lru_cache(maxsize=1)
def schemas() -> tuple[ToolSchema, ...]:
    return tuple(_schema(tool) for tool in repertoire().tools)


def run(call: ToolCall, context: SkillContext) -> ToolResult:
    tool = next((tool for tool in repertoire().tools if tool.name == call.name), None)
    if tool is None:
        return ToolResult(call, f"Error: there is no tool called {call.name!r}.")
    arguments = _arguments(call.arguments)
    if arguments is None:
        return ToolResult(call, "Error: the arguments were not a JSON object.")
    missing = [n for n in tool.parameters if n not in arguments and n not in tool.optional]
    if missing:
        return ToolResult(call, f"Error: missing {', '.join(missing)}.")
    slots = {name: arguments[name] for name in tool.parameters if name in arguments}
    if not tool.verbatim:
        slots = {name: canonical(value) for name, value in slots.items()}
    answer = tool.respond(slots, context)
    if answer is None:
        return ToolResult(call, "Error: the arguments were not understood.")
    return ToolResult(call, answer.text or "Done.", answer)


def _schema(tool: Tool) -> ToolSchema:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": {
                "type": "object",
                "properties": {
                    name: {"type": "string", "description": description}
                    for name, description in tool.parameters.items()
                },
                "required": [name for name in tool.parameters if name not in tool.optional],
            },
        },
    }


def parsed_arguments(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a call's arguments; {} for empty ones, else None."""
    if text.strip() in ("", "null"):
        return {}
    value, _ = _value(text, text.find("{"))
    return value if isinstance(value, dict) else None


def _arguments(text: str) -> Mapping[str, str] | None:
    """Return the arguments as text, except for nested values and null."""
    arguments = parsed_arguments(text)
    if arguments is None:
        return None
    return {
        join_surrogates(str(name)): join_surrogates(str(value)[:MAX_ARGUMENT_CHARS])
        for name, value in arguments.items()
        if isinstance(value, str | int | float)
    }


MAX_CHARS: Final = 4000

_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")
_WRAPPERS = ("function", "function_call", "tool_call", "tool_calls")
_KEYS = frozenset((*_NAME_KEYS, *_ARGUMENT_KEYS, *_WRAPPERS, "type", "id", "index", "call_id"))
_HEAD = re.compile(
    r"(?P<fence>```\w*\s*|`{1,2}\Z)?\[?\s*(?:\{\s*(?:\"(?P<key>\w*)(?P<closed>\"?))?)?"
)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_FENCE_END = re.compile(r"\s*```")
_TAG_HEAD = re.compile(
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


def call_length(text: str) -> int:
    """Return the length of the call that begins `text`, with its fence; 0 = none. MoreNeeded."""
    head = _HEAD.match(text)
    if head is None:
        return 0
    if not head["closed"]:
        begun = head.end() == len(text) and (head["key"] or "")
        if begun is not False and any(key.startswith(begun) for key in _KEYS):
            raise MoreNeeded
        return 0
    if head["key"] not in _KEYS:
        return 0
    begin = len(head["fence"] or "")
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError) as error:
        if _is_open(text[begin:]):
            raise MoreNeeded from error
        return 0
    if not begin or not calls_in(value):
        return end if calls_in(value) else 0
    if closing := _FENCE_END.match(text, end):
        return closing.end()
    if text[end:].strip("`\n "):
        return 0
    raise MoreNeeded


def calls_in(value: Any, *, marked: bool = False) -> list[tuple[str, Any]]:
    """Return the calls in a JSON value. `marked`: the model marked it as a call."""
    if isinstance(value, list):
        found = [calls_in(each, marked=marked) for each in value]
        return list(chain.from_iterable(found)) if all(found) else []
    if not isinstance(value, Mapping) or not (marked or _KEYS.issuperset(value)):
        return []
    for wrapper in _WRAPPERS:
        if isinstance(value.get(wrapper), list | Mapping):
            return calls_in(value[wrapper], marked=marked)
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    is_tool = any(tool.name == name for tool in repertoire().tools)
    known = marked or isinstance(arguments, Mapping) or is_tool
    return [(name, {} if arguments is None else arguments)] if name and known else []


def _is_open(text: str) -> bool:
    """Return whether a JSON value is still incomplete."""
    marks = _STRING.sub("", text)
    depth = sum(mark in "{[" for mark in marks) - sum(mark in "}]" for mark in marks)
    return depth > 0 and len(text) < MAX_CHARS


def parse_calls(body: str) -> Iterator[ToolCall]:
    """Yield the calls in the text between the marks of a call."""
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
    heads = list(_TAG_HEAD.finditer(body))
    ends = [*(head.start() for head in heads), len(body)]
    parts = [body[head.end() : end] for head, end in zip(heads, ends[1:], strict=True)]
    return [(head[1], _written_arguments(part)) for head, part in zip(heads, parts, strict=True)]


def _by_name(body: str) -> list[tuple[str, Any]]:
    """Parse names with their arguments behind them."""
    calls = []
    for part in _NEXT.split(body):
        match = _NAMED.fullmatch(_NOISE.sub(" ", part))
        rest = match[2].strip() if match else ""
        if match and _BEGINS_ARGUMENTS.match(rest):
            calls.append((match[1], _written_arguments(rest)))
    return calls


def _written_arguments(text: str) -> Any:
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
    """Return the JSON value at this position, and its end; None for an invalid one or position."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, len(text)
