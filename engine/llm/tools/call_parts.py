"""Tool calls assembled from the fragments a server streams.

Invariant: fragments of one call have one index, except that a new id always begins a new call
(Ollama has sent several calls under index 0).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.characters import whole
from engine.llm.tools.toolbox import ToolCall

MAX_CALLS = 16
MAX_ARGUMENTS_CHARS = 20_000
MAX_NAME_CHARS = 200


@dataclass
class _Growing:
    index: int
    id: str
    name: str = ""
    arguments: str = ""


class CallParts:
    """Collects the `tool_calls` of every chunk of one stream."""

    def __init__(self) -> None:
        self._growing: list[_Growing] = []

    def add(self, fragments: Iterable[Mapping[str, Any]]) -> None:
        """Fragments as in the JSON of the OpenAI chat format."""
        for fragment in fragments:
            index, function = fragment.get("index"), fragment.get("function")
            identifier = _text(fragment.get("id"))
            call = self._call(index if isinstance(index, int) else 0, identifier)
            if call is None or not isinstance(function, Mapping):
                continue
            call.name = (call.name + _text(function.get("name")))[:MAX_NAME_CHARS]
            arguments = call.arguments + _text(function.get("arguments"))
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


def _text(value: object) -> str:
    """A text as it is, null as none, anything else (arguments that were not packed) as JSON."""
    return value if isinstance(value, str) else json.dumps(value) if value else ""
