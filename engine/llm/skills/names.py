"""The person's name: said once, kept in the settings, forgotten on request.

Invariant: a name is one word or a few, with nothing else after "my name is" or "call me"; a longer
text is not a name. An answer that contains the name is private: it stays on this computer.
"""

import re

from engine.llm.base import RememberName
from engine.llm.skills.clock.days import WEEKDAYS
from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.fillings import is_person
from engine.llm.skills.matching.intent import Answer, Intent, Occasion, Skill, Slots, sentence

MOST_CHARS = 40

_NAME = re.compile(r"^[^\W\d_][\w'\u2019.-]*(?: [^\W\d_][\w'\u2019.-]*)*$")
# What follows "call me" or "my name is" in sayings.
_NO_NAME = frozenset(
    (
        *("anytime", "crazy", "old", "mad", "stupid", "lazy", "names", "whatever", "mud", "legion"),
        *("hard", "easy", "difficult", "very", "wrong", "naive", "paranoid", "picky", "silly"),
        *(
            *WEEKDAYS,
            "asap",
            "sometimes",
            "anyway",
            "upon",
            "private",
            "secret",
            "common",
            "taken",
            "nobody",
            "unique",
            "lucky",
            "happy",
            "weird",
            "insane",
            "sorry",
            "cheap",
            "uber",
            "collect",
            "unusual",
        ),
    )
)


def remember(slots: Slots, occasion: Occasion) -> Answer | None:
    name = _name(slots["person"], occasion)
    if name is None:
        return None
    return Answer(f"Nice to meet you, {name}.", (RememberName(name),), private=True)


def call(slots: Slots, occasion: Occasion) -> Answer | None:
    name = _name(slots["person"], occasion)
    if name is None:
        return None
    return Answer(f"All right, {name}.", (RememberName(name),), private=True)


def tell(_slots: Slots, occasion: Occasion) -> Answer:
    name = occasion.situation().person
    if not name:
        return Answer("You haven't told me your name. Say: my name is, and your name.")
    return Answer(f"Your name is {name}.", private=True)


def forget(_slots: Slots, occasion: Occasion) -> Answer:
    if not occasion.situation().person:
        return Answer("I don't know your name.")
    return Answer("I've forgotten your name.", (RememberName(""),))


def _name(said: str, occasion: Occasion) -> str | None:
    """The name in what was said, with capitals; None when it is not a name."""
    bare = without_courtesy(said.strip(' \t\n,:!?"“”')).rstrip(".,!? ")
    words = bare.split()
    if len(bare) > MOST_CHARS or not _NAME.match(bare):
        return None
    whole = sentence(occasion)
    if not is_person(bare, has_capitals=whole != whole.lower()):
        return None
    if not _NO_NAME.isdisjoint(word.lower().strip(".'") for word in words):
        return None
    return " ".join(word if word != word.lower() else word.capitalize() for word in words)


SKILL = Skill(
    intents=(
        Intent(
            "remember name",
            (
                "(my name is|my name's|i am called|i'm called|(they|people|my friends) call me) "
                "{person}",
            ),
            remember,
            verbatim=True,
        ),
        Intent(
            "call by name",
            (
                "[(you (can|may|shall)|please|just|feel free to|always|only)] [only|always] "
                "(call|refer to|address) me [as|by the name [of]] {person}",
                "[just] start (calling|referring to|addressing) me [as] {person}",
                "i go by the name [of] {person}",
                "(change|set) my name to {person}",
                "(i want|i would like|i'd like|i prefer|i like) to be called {person}",
            ),
            call,
            verbatim=True,
        ),
        Intent(
            "tell name",
            (
                "[(what is|what)] my name [(again|is)]",
                "who (am i|i am)",
                "(do you know|do you remember|remember) (my name|who i am|what my name is)",
                "(what|how) (do|will) you (call|refer to|address|reference) me [as|by]",
                "what do you know me (as|by)",
                "what you (call me|refer to me as)",
                "(what do you think my name is|my name is what)",
                "what do you have (me saved (as|under)|for my name)",
                "what is my name (in|on) (your (system|file|records)|file)",
                "what am i (called|known as [to you])",
                "(what do you have|what is|how is) my name saved [as|under]",
                "what name (do you (call me|know me|have|use|refer to me [as]) [by|saved|listed]"
                "|am i under)",
                "[what is] (the|your) name [that] you (have|would use|call me)",
                "(do you have|i want to hear|say) my name",
            ),
            tell,
        ),
        Intent(
            "forget name",
            ("(forget|delete|erase|remove) (my name|who i am|what i am called)",),
            forget,
        ),
    ),
    examples={"person": ("martin", "anna", "lucy", "ben", "maria", "thomas")},
)
