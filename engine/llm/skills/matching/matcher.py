"""Finds the skill that understands a sentence, with hassil.

Invariant: intents are asked in the order of FAMILIES, verbatim ones first; the first responder that
answers wins, so an order of families is an order of precedence.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hassil import Intents, recognize_all

from engine.llm.skills import (
    abilities,
    arithmetic,
    chance,
    cities,
    clock,
    control,
    reading,
    repeating,
    smalltalk,
    spelling,
    timers,
    units,
    voices,
)
from engine.llm.skills.matching.canonical import canonical, without_courtesy_before
from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Tool

# Arithmetic comes last: its "{expression}" looks at everything that is left.
FAMILIES: tuple[Family, ...] = (
    control.FAMILY,
    reading.FAMILY,
    repeating.FAMILY,
    spelling.FAMILY,
    voices.FAMILY,
    clock.FAMILY,
    cities.FAMILY,
    timers.FAMILY,
    chance.FAMILY,
    units.FAMILY,
    abilities.FAMILY,
    smalltalk.FAMILY,
    arithmetic.FAMILY,
)
INTENTS: tuple[Intent, ...] = tuple(intent for family in FAMILIES for intent in family.intents)
TOOLS: tuple[Tool, ...] = tuple(tool for family in FAMILIES for tool in family.tools)

# hassil explores every way an open slot can end; a longer sentence that is no reading matter
# would take it too long, and no skill has one.
MAX_PATTERN_CHARS = 300
MAX_CANDIDATES = 50


@dataclass(frozen=True)
class Understanding:
    """What a sentence means, and what is answered."""

    intent: Intent
    answer: Answer


class Matcher:
    """The compiled templates. Using them does not change them, so one will do: see matcher()."""

    def __init__(self) -> None:
        self._by_name = {intent.name: intent for intent in INTENTS}
        self._verbatim = compiled(intent for intent in INTENTS if intent.verbatim)
        self._canonical = compiled(intent for intent in INTENTS if not intent.verbatim)
        for intents in (self._verbatim, self._canonical):  # parsed now, not at the first sentence
            list(recognize_all("what", intents))

    def answer(self, text: str, occasion: Occasion, *, certain_only: bool) -> Answer | None:
        """The answer of the first skill that understands the text; None when none does."""
        understood = self.understand(text, occasion, certain_only=certain_only)
        return understood.answer if understood else None

    def understand(
        self, text: str, occasion: Occasion, *, certain_only: bool
    ) -> Understanding | None:
        """The first intent that answers the text, with its answer; None when none does."""
        said = without_courtesy_before(text.strip())
        understood = self._first(self._verbatim, said, occasion, certain_only)
        if understood is None and len(text) <= MAX_PATTERN_CHARS:
            understood = self._first(self._canonical, canonical(text), occasion, certain_only)
        return understood

    def _first(
        self, intents: Intents, text: str, occasion: Occasion, certain_only: bool
    ) -> Understanding | None:
        head = text[:MAX_PATTERN_CHARS]
        for match, _ in zip(recognize_all(head, intents), range(MAX_CANDIDATES), strict=False):
            intent = self._by_name[match.intent.name]
            if certain_only and not intent.certain:
                continue
            answer = intent.respond(_slots(match.entities, head, text), occasion)
            if answer is not None:
                return Understanding(intent, answer)
        return None


@lru_cache(maxsize=1)
def matcher() -> Matcher:
    """The one matcher, compiled at the first call."""
    return Matcher()


def compiled(intents: Iterable[Intent]) -> Intents:
    """hassil's form of our intents and lists. Its types are untyped upstream."""
    lists: dict[str, Any] = {}
    for family in FAMILIES:
        for name, values in family.lists.items():
            lists[name] = {"values": [{"in": form, "out": value} for form, value in values]}
        for name in family.open_lists:
            lists[name] = {"wildcard": True}
    return Intents.from_dict(
        {
            "language": "en",
            "intents": {
                intent.name: {"data": [{"sentences": list(intent.sentences)}]} for intent in intents
            },
            "lists": lists,
        }
    )


def _slots(entities: dict[str, Any], head: str, text: str) -> dict[str, str]:
    """Slot values: of an open slot the whole words as they stand in the text, with the punctuation
    hassil leaves out of its spans ("../notes.txt" begins with it). hassil saw the `head` alone:
    reading matter that reaches its end goes on to the end of the text.
    """
    slots = {}
    for name, entity in entities.items():
        start, end = entity.text_span
        if end >= len(head.rstrip()):
            end = len(text)
        slots[name] = _whole_words(text, start, end) if entity.is_wildcard else str(entity.value)
    return slots


def _whole_words(text: str, start: int, end: int) -> str:
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end]
