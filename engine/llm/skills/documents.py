"""Requests about the document that is read aloud ("next chapter", "back", "stop reading").

Invariant: without an open document none of these is meant.
"""

from collections.abc import Mapping
from functools import cache

from engine.llm.base import AssistantState
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.repertoire import repertoire, wished
from engine.messages.reading import PauseReading, Place, ReadAloud, SkipReading, Unit

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
    asked = wished(said, _names(bare), WHILE_READING)
    return next((each for each in asked if isinstance(each, Wish)), None)


@cache
def _names(bare: bool) -> frozenset[str]:
    kinds = ("document: ", "bare document: ") if bare else ("document: ",)
    return frozenset(each.name for each in repertoire().intents if each.name.startswith(kinds))
