"""Tool calls assembled from the fragments a server streams.

Invariant: fragments of one call have one index, except that a new id always begins a new call
(Ollama has sent several calls under index 0).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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

    def add(self, fragments: Sequence[Any]) -> None:
        """Fragments as the OpenAI client types them."""
        for fragment in fragments:
            call = self._call(fragment.index or 0, fragment.id or "")
            if call is None or fragment.function is None:
                continue
            call.name = (call.name + (fragment.function.name or ""))[:MAX_NAME_CHARS]
            arguments = call.arguments + (fragment.function.arguments or "")
            call.arguments = arguments[:MAX_ARGUMENTS_CHARS]

    def calls(self) -> Iterator[ToolCall]:
        """The calls, in the order they began."""
        for number, call in enumerate(self._growing):
            yield ToolCall(call.id or f"call-{number}", call.name, call.arguments)

    def _call(self, index: int, identifier: str) -> _Growing | None:
        """The call this fragment continues or begins; None when there are too many."""
        for call in reversed(self._growing):
            if call.index == index and (not identifier or identifier == call.id):
                return call
        if len(self._growing) >= MAX_CALLS:
            return None
        self._growing.append(_Growing(index, identifier))
        return self._growing[-1]
