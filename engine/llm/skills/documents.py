"""Requests about the document that is read aloud ("next chapter", "back", "stop reading").

Invariant: without an open document none of these is meant.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from engine.llm.base import AssistantState
from engine.llm.skills.languages.commands import in_english
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.intent import Answer, Intent, SkillContext, Slots
from engine.llm.skills.matching.repertoire import Templates, repertoire
from engine.messages.reading import PauseReading, Place, ReadAloud, SkipReading, Unit

_MOST_CHARS = 80  # a longer sentence asks for something else as well
WHILE_READING = AssistantState(rate=None, volume=1.0, voice="", voices=(), reading="document")

Wish = ReadAloud | PauseReading | SkipReading
_ORDERS: Mapping[str, Wish] = {
    "go on": ReadAloud(),
    "begin again": ReadAloud(Place()),
    "pause": PauseReading(),
}


def skip(slots: Slots, context: SkillContext) -> Answer | None:
    """Skip `many` parts ("sentence", "paragraph", "chapter") in the direction `way`."""
    count = int(slots.get("many", "1")) * (1 if slots["way"] == "on" else -1)
    return _act(SkipReading(Unit(slots["part"]), count), context)


def skip_bare(slots: Slots, context: SkillContext) -> Answer | None:
    """Skip only right after the reading: see reading_wish()."""
    return skip(slots, context) if context.state() is WHILE_READING else None


def direct(slots: Slots, context: SkillContext) -> Answer | None:
    """Carry out the order `do`."""
    return _act(_ORDERS[slots["do"]], context)


def _act(wish: Wish, context: SkillContext) -> Answer | None:
    return Answer(actions=(wish,)) if context.state().reading else None


def reading_wish(said: str, *, bare: bool = True) -> Wish | None:
    """Return the request about the reading; None if the words say something else, or more. `bare`:
    they follow the reading, so words that do not name it ("back") mean it too.
    """
    if len(said) > _MOST_CHARS:
        return None
    context = SkillContext(datetime.now, lambda: WHILE_READING, Path())
    for intent, slots in _templates(bare).matches(canonical(in_english(said))):
        answer = intent.respond(slots, context)
        for action in answer.actions if answer else ():
            if isinstance(action, Wish):
                return action
    return None


@cache
def _templates(bare: bool) -> Templates[Intent]:
    named = [each for each in repertoire().intents if each.name.startswith("document: ")]
    bare_ones = [each for each in repertoire().intents if each.name.startswith("bare document: ")]
    return repertoire().templates([*named, *(bare_ones if bare else ())])
