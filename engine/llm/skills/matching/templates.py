"""The sentences of intents or of follow-ups, compiled for hassil, and what of them a text matches.

Invariant: templates are parsed when the first text is matched; matching changes nothing in them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from hassil import IntentData, Intents, recognize_all
from hassil.intents import Intent as HassilIntent

from engine.llm.skills.matching.intent import FollowUp, Intent, Slots

# hassil tries every way in which an open slot can end, which takes too long for longer sentences.
# Apart from texts to be read aloud, no skill has such long ones.
MAX_PATTERN_CHARS: Final = 300
MAX_CANDIDATES: Final = 50

Sayable = TypeVar("Sayable", Intent, FollowUp)


class Templates(Generic[Sayable]):
    """The sentences of these intents or follow-ups; earlier ones match first. `lists` are hassil's
    lists of what slots take, whose types are not annotated.
    """

    def __init__(self, sayables: Sequence[Sayable], lists: Intents, open_slots: set[str]) -> None:
        self._sayables: Sequence[Sayable] = sayables
        intents = {}
        for at, each in enumerate(sayables):
            data = IntentData(list(each.sentences), wildcard_list_names=open_slots)
            intents[str(at)] = HassilIntent(str(at), [data])
        self._compiled = replace(lists, intents=intents)

    def matches(self, text: str) -> Iterator[tuple[Sayable, Slots]]:
        """Whatever matches the whole text, with its slots, in order; at most MAX_CANDIDATES."""
        head = text[:MAX_PATTERN_CHARS]
        found = recognize_all(head, self._compiled)
        for match, _ in zip(found, range(MAX_CANDIDATES), strict=False):
            yield self._sayables[int(match.intent.name)], _slots(match.entities, head, text)

    def expressions(self) -> Iterator[Any]:
        """Every template as hassil parsed it; of one intent, those with most words first."""
        for intent in self._compiled.intents.values():
            for data in intent.data:
                yield from (sentence.expression for sentence in data.sentences)


def _slots(entities: dict[str, Any], head: str, text: str) -> dict[str, str]:
    """Slot values. An open slot gets whole words as they stand in the text, with the punctuation
    that hassil leaves out of its spans (as at the beginning of "../notes.txt"). hassil saw only the
    `head`: a text to be read aloud that reaches the end of the head goes on to the end of the text.
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
