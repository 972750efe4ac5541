"""All skills together.

Invariant: a name stands for one intent, one list or one slot, whichever skill it comes from; the
order of the intents is their precedence.
"""

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

from hassil import Intents

from engine.llm.skills.matching.intent import FollowUp, Intent, Skill
from engine.llm.skills.matching.skill_files import load
from engine.llm.skills.matching.templates import Sayable, Templates
from engine.resources import resource
from engine.typed_values import WrongValue

PACKAGE: Final = "engine.llm.skills"  # has the functions that resources/skills names
_SLOT: Final = re.compile(r"\{(\w+)")


class Repertoire:
    """What a set of skills understands and offers."""

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
