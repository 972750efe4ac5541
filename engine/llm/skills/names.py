"""The user's name: remembered from one sentence, stored in the settings, forgotten on request.

Invariant: a name is one word or a few, with nothing else after "my name is" or "call me"; a longer
text is not a name. An answer that contains the name is private, which makes the complete turn
private: no server on another computer gets it with a later question.
"""

import re

from engine.llm.base import RememberName
from engine.llm.skills.clock.days import WEEKDAYS
from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.fillings import is_person, word_set
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, sentence

MOST_CHARS = 40

_NAME = re.compile(r"^[^\W\d_][\w'\u2019.-]*(?: [^\W\d_][\w'\u2019.-]*)*$")
_NO_NAME = frozenset(WEEKDAYS) | word_set("no_names")


def remember(slots: Slots, context: SkillContext) -> Answer | None:
    """Remember the name, and repeat it behind `hello`."""
    name = _name(slots["person"], context)
    if name is None:
        return None
    return Answer(f"{slots['hello']}, {name}.", (RememberName(name),), private=True)


def tell(_slots: Slots, context: SkillContext) -> Answer:
    name = context.state().person
    if not name:
        return Answer("You haven't told me your name. Say: my name is, and your name.")
    return Answer(f"Your name is {name}.", private=True)


def forget(_slots: Slots, context: SkillContext) -> Answer:
    if not context.state().person:
        return Answer("I don't know your name.")
    return Answer("I've forgotten your name.", (RememberName(""),))


def _name(said: str, context: SkillContext) -> str | None:
    """Return the name in the user's words, with capitals; None if it is not a name."""
    bare = without_courtesy(said.strip(' \t\n,:!?"“”')).rstrip(".,!? ")
    words = bare.split()
    if len(bare) > MOST_CHARS or not _NAME.match(bare):
        return None
    whole = sentence(context)
    if not is_person(bare, has_capitals=whole != whole.lower()):
        return None
    if not _NO_NAME.isdisjoint(word.lower().strip(".'") for word in words):
        return None
    return " ".join(word if word != word.lower() else word.capitalize() for word in words)
