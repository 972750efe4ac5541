"""Joins the fragments of the tool calls in one stream.

Invariant: pure. Each call of the model is returned once, even if its name and id are in each
fragment, it is delivered twice, or parallel calls have the same index and no id.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.characters import join_surrogates
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
    """Return whether a fragment begins the next call after a complete one. A repetition
    does not.
    """
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
    """Return a text unchanged, null as "", any other value (arguments that were not packed) as
    JSON.
    """
    return value if isinstance(value, str) else json.dumps(value) if value else ""
