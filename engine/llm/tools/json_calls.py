"""Distinguish a tool call that a model wrote as a bare JSON object from JSON that is its answer.

Invariant: only text that may still become a call is held back, and at most MAX_CHARS of it.
"""

import json
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from engine.llm.skills.matching.repertoire import repertoire
from engine.llm.tools.mark_reader import MoreNeeded

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


def call_length(text: str) -> int:
    """Return the length of the call at the beginning of `text`, with the fence around it; 0 = there
    is none. Raises MoreNeeded.
    """
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
    """Return names and arguments of the calls in a JSON value. `marked`: the model marked it as a
    call.
    """
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
