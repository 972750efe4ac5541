"""All skills together, and which of their sentences, compiled for hassil, a text matches.

Invariant: a name stands for one intent, one list or one slot, whichever skill it comes from; the
order of the intents is their precedence. Templates are parsed when the first text is matched;
matching changes nothing in them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from hassil import IntentData, Intents, recognize_all
from hassil.intents import Intent as HassilIntent

from engine.llm.base import Action, AssistantState
from engine.llm.skills.languages.commands import in_english
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.intent import FollowUp, Intent, Skill, SkillContext, Slots
from engine.llm.skills.matching.skill_files import load
from engine.resources import resource
from engine.typed_values import WrongValue

PACKAGE: Final = "engine.llm.skills"  # has the functions that resources/skills names
_SLOT: Final = re.compile(r"\{(\w+)")

# hassil tries every way in which an open slot can end, which takes too long for longer sentences.
# Apart from texts to be read aloud, no skill has such long ones.
MAX_PATTERN_CHARS: Final = 300
MAX_CANDIDATES: Final = 50
MAX_WISH_CHARS: Final = 80  # a longer sentence asks for something else as well

Sayable = TypeVar("Sayable", Intent, FollowUp)


class Templates(Generic[Sayable]):
    """The sentences of these intents or follow-ups; earlier ones match first."""

    def __init__(self, sayables: Sequence[Sayable], lists: Intents, open_slots: set[str]) -> None:
        self._sayables: Sequence[Sayable] = sayables
        intents = {}
        for at, each in enumerate(sayables):
            data = IntentData(list(each.sentences), wildcard_list_names=open_slots)
            intents[str(at)] = HassilIntent(str(at), [data])
        self._compiled = replace(lists, intents=intents)

    def matches(self, text: str) -> Iterator[tuple[Sayable, Slots]]:
        """Yield up to MAX_CANDIDATES intents that match the entire text, in order."""
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
    """Return the slot values. An open slot gets complete words, with the punctuation that hassil
    leaves out ("../notes.txt"). hassil saw only the `head`; a slot that reaches its end is extended
    to the end of the text.
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


class Repertoire:
    """The sentences and tools of a set of skills."""

    def __init__(self, skills: tuple[Skill, ...]) -> None:
        self.skills = skills
        self.intents = tuple(intent for skill in skills for intent in skill.intents)
        self.follow_ups = tuple(each for skill in skills for each in skill.follow_ups)
        self.tools = tuple(tool for skill in skills for tool in skill.tools)
        self.lists = {name: forms for skill in skills for name, forms in skill.lists.items()}
        self.examples = {slot: said for skill in skills for slot, said in skill.examples.items()}
        self.fits = {slot: fits for skill in skills for slot, fits in skill.fits.items()}
        self._check()

    def _check(self) -> None:
        """WrongValue where an intent is there twice, or a name stands for nothing."""
        names = [intent.name for intent in self.intents]
        if twice := [name for name in names if names.count(name) > 1]:
            raise WrongValue(f"there are two intents '{twice[0]}'")
        for follow_up in self.follow_ups:
            named = {*follow_up.after, *filter(None, [follow_up.asks])}
            if unknown := named.difference(names):
                raise WrongValue(f"there is no intent '{min(unknown)}' to follow or to ask")
        sayable: list[Intent | FollowUp] = [*self.intents, *self.follow_ups]
        slots = set(_SLOT.findall(" ".join(said for each in sayable for said in each.sentences)))
        if unknown := slots - self.lists.keys() - self.examples.keys():
            raise WrongValue(f"there is neither a list nor an example of '{min(unknown)}'")

    def templates(self, sayables: Sequence[Sayable]) -> Templates[Sayable]:
        """The sentences of some of the intents, or of the follow-ups, to match texts with."""
        return Templates(sayables, self._lists, set(self.examples))

    @cached_property
    def _lists(self) -> Intents:
        """The lists of all skills for hassil, whose types are not annotated, and no intents."""
        lists: dict[str, Any] = {slot: {"wildcard": True} for slot in self.examples}
        for name, forms in self.lists.items():
            lists[name] = {"values": [{"in": form, "out": value} for form, value in forms]}
        return Intents.from_dict({"language": "en", "intents": {}, "lists": lists})


@lru_cache(maxsize=1)
def repertoire() -> Repertoire:
    """The built-in skills, read at the first call."""
    return Repertoire(load(resource("skills"), PACKAGE))


def wished(said: str, names: frozenset[str], state: AssistantState) -> Iterator[Action]:
    """Yield the actions that a text in any language asks for by one of these intents alone."""
    if len(said) > MAX_WISH_CHARS:
        return
    context = SkillContext(datetime.now, lambda: state, Path())
    for intent, slots in _templates_of(names).matches(canonical(in_english(said))):
        answer = intent.respond(slots, context)
        yield from answer.actions if answer else ()


def intents_of(names: frozenset[str]) -> list[Intent]:
    return [each for each in repertoire().intents if each.name in names]


@cache
def _templates_of(names: frozenset[str]) -> Templates[Intent]:
    return repertoire().templates(intents_of(names))
