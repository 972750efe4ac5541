"""The skills as functions that a language model may call.

Invariant: running any call of a model returns a text for the model and never raises; no tool reads
a file or uses the network.
"""

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from engine.characters import join_surrogates
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.intent import Answer, SkillContext, Tool
from engine.llm.skills.matching.repertoire import repertoire

MAX_ARGUMENT_CHARS = 500

ToolSchema = dict[str, Any]  # JSON of the OpenAI tools format


@dataclass(frozen=True)
class ToolCall:
    """One call as a model wrote it; `arguments` should be a JSON object but may be anything.

    `extra` are the other fields of the call, `thoughts` those of the message around it: a server
    may refuse the next round without them.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    thoughts: Mapping[str, Any] = field(default_factory=dict, hash=False)


def new_call_id() -> str:
    """Return an id for a call without one: nine letters and digits, the only form Mistral
    accepts.
    """
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
    """Return the first JSON object in a call's arguments, which may be in a fence or a list; {} for
    empty arguments, None for any other text.
    """
    if text.strip() in ("", "null"):
        return {}
    _, brace, rest = text.partition("{")
    with suppress(ValueError, RecursionError):
        found, _ = json.JSONDecoder(strict=False).raw_decode(brace + rest)
        return dict(found)
    return None


def _arguments(text: str) -> Mapping[str, str] | None:
    """Return the arguments as text; numbers and booleans are accepted, nested values and null are
    not.
    """
    arguments = parsed_arguments(text)
    if arguments is None:
        return None
    return {
        join_surrogates(str(name)): join_surrogates(str(value)[:MAX_ARGUMENT_CHARS])
        for name, value in arguments.items()
        if isinstance(value, str | int | float)
    }
