"""Tells a call of a tool that a model wrote as a bare JSON object from JSON that is its answer.

Invariant: only what may still become a call is waited for, and no longer than MAX_CHARS.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from engine.llm.skills.matching.repertoire import repertoire
from engine.llm.tools.mark_reader import MORE, More

MAX_CHARS: Final = 4000
NOT_A_CALL: Final = object()

_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")
_WRAPPERS = ("function", "function_call", "tool_call", "tool_calls")
_KEYS = frozenset((*_NAME_KEYS, *_ARGUMENT_KEYS, *_WRAPPERS, "type", "id", "index", "call_id"))
_HEAD = re.compile(
    r"(?P<fence>```\w*\s*)?\[?\s*(?P<brace>\{?)\s*(?P<quote>\"?)(?P<key>\w*)(?P<closed>\"?)"
)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_FENCE_END = re.compile(r"\s*```")


@dataclass(frozen=True)
class JsonCall:
    """A whole value of JSON: the first `length` characters, with the fence around it."""

    length: int
    is_call: bool


def json_call(text: str, *, final: bool) -> JsonCall | More | object:
    """What a text that begins with a bracket, or a fence before one, begins with."""
    head = _HEAD.match(text)
    if head is None:
        return NOT_A_CALL
    if head.end() == len(text):
        may_be_call = any(key.startswith(head["key"]) for key in _KEYS)
    else:
        quoted = bool(head["brace"] and head["quote"] and head["closed"])
        may_be_call = quoted and head["key"] in _KEYS
    if not may_be_call:
        return NOT_A_CALL
    if not head["closed"]:
        return NOT_A_CALL if final else MORE
    begin = len(head["fence"] or "")
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return MORE if not final and _is_open(text[begin:]) else NOT_A_CALL
    is_call = bool(calls_in(value))
    if not begin:
        return JsonCall(end, is_call)
    closing = _FENCE_END.match(text, end)
    if closing is None or not is_call:
        waits = is_call and not final and not text[end:].strip("`\n ")
        return MORE if waits else NOT_A_CALL
    return JsonCall(closing.end(), is_call)


def calls_in(value: Any, *, marked: bool = False) -> list[tuple[str, Any]]:
    """Names and arguments of the calls in a value of JSON. `marked`: the model says it is one."""
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
    """Whether a value of JSON is not at its end yet."""
    marks = _STRING.sub("", text)
    depth = sum(mark in "{[" for mark in marks) - sum(mark in "}]" for mark in marks)
    return depth > 0 and len(text) < MAX_CHARS
