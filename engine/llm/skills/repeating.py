"""Repeat the user's words, and the last answer.

Invariant: the words come back exactly as they were typed or heard; nothing is added.
"""

import re
from dataclasses import replace

from engine.llm.base import ChangeRate, Role
from engine.llm.skills.control.pace import STEP
from engine.llm.skills.exact_words import exact_words
from engine.llm.skills.hums import is_hum
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, sentence

_WORD = re.compile(r"[a-z]+")
NOTHING_SAID = "I haven't said anything yet."


def repeat(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat the words of a request if the request is certain."""
    found = exact_words(sentence(context) or slots["request"])
    return Answer(found.text) if found and found.sure else None


def perhaps_repeat(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat the words, even if a language model might understand the request better."""
    found = exact_words(sentence(context) or slots["request"])
    return Answer(found.text) if found else None


def say_again(_slots: Slots, context: SkillContext) -> Answer:
    """Repeat the heard part of the assistant's last answer."""
    for message in reversed(context.history):
        if message.role is Role.ASSISTANT and message.text.strip():
            return Answer(message.text, private=message.private)
    return Answer(NOTHING_SAID)


def say_missed(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat it slower, for "huh?"; not for "uh-huh"."""
    hums = is_hum(" ".join(_WORD.findall(sentence(context).lower())))
    return None if hums else say_again_at_pace({**slots, "way": "slower"}, context)


def say_again_at_pace(slots: Slots, context: SkillContext) -> Answer:
    """Repeat it at another pace; `way`: "slower" or "faster"."""
    again = say_again(slots, context)
    if again.text == NOTHING_SAID:
        return again
    return replace(again, actions=(ChangeRate(by=STEP if slots["way"] == "faster" else -STEP),))
