"""Repeating the person's words, and saying the last answer again.

Invariant: the words come back exactly as they were typed or heard; nothing is added.
"""

from dataclasses import replace

from engine.llm.base import ChangeRate, Role
from engine.llm.skills.control.pace import STEP
from engine.llm.skills.exact_words import exact_words
from engine.llm.skills.matching.intent import Answer, Occasion, Slots, sentence


def repeat(slots: Slots, occasion: Occasion) -> Answer | None:
    """Repeat the words of a request that has no other meaning."""
    found = exact_words(sentence(occasion) or slots["request"])
    return Answer(found.text) if found and found.sure else None


def perhaps_repeat(slots: Slots, occasion: Occasion) -> Answer | None:
    """Repeat the words, even if a language model might understand the request better."""
    found = exact_words(sentence(occasion) or slots["request"])
    return Answer(found.text) if found else None


def say_again(_slots: Slots, occasion: Occasion) -> Answer:
    """The last thing that was heard from the assistant."""
    for message in reversed(occasion.history):
        if message.role is Role.ASSISTANT and message.text.strip():
            return Answer(message.text, private=message.private)
    return Answer("I haven't said anything yet.")


def say_again_at_pace(slots: Slots, occasion: Occasion) -> Answer:
    """The same, `way`: "slower" or "faster"."""
    change = ChangeRate(by=STEP if slots["way"] == "faster" else -STEP)
    return replace(say_again(slots, occasion), actions=(change,))
