"""Repeating the person's words, and saying the last answer again.

Invariant: the words come back exactly as they were typed or heard; nothing is added.
"""

import re
from dataclasses import replace

from engine.llm.base import ChangeRate, Role
from engine.llm.skills.control.pace import STEP
from engine.llm.skills.matching.fillings import goes_on
from engine.llm.skills.matching.intent import Answer, Occasion, Responder, Slots, sentence

# Requests to say it in other words, which takes a language model.
_CHANGED = re.compile(
    r"^(?:that|it|the (?:last )?\w+|what you said|your last \w+)\b"
    r".*\b(?:in|but|with|as|to|into|without|like)\b.*$",
    re.IGNORECASE,
)
# After a bare "say": not words to repeat.
_NO_WORDS = re.compile(
    r"^(?:my name|it|that|the (?:alphabet|time|date)|some(?:thing|body)|anything"
    r"|nothing|more|why|how)\b"
    r"| in [a-z]+(?:ese|ish|an|ch|ic|ian)$",
    re.IGNORECASE,
)
_SET_APART = re.compile(r"(?:[:,\n\u2013\u2014]|\.\.\.| -)\s*$")
_QUOTED = re.compile(r"[\"'\u201c\u2018\u00ab]")


def repeat(slots: Slots, _occasion: Occasion) -> Answer | None:
    text = slots["text"].strip(' \t\n:,-\u2013\u2014"\u201c\u201d')
    return Answer(text) if text and not _CHANGED.search(text.rstrip(".!? ")) else None


def announced(respond: Responder) -> Responder:
    """The same for words that a colon, a comma, a quotation mark or a new line sets apart from the
    request: without one, "this step again" are hardly the words.
    """

    def respond_where_set_apart(slots: Slots, occasion: Occasion) -> Answer | None:
        said = sentence(occasion)
        before, _, _ = said.rpartition(slots["text"])
        apart = _SET_APART.search(before) or _QUOTED.match(slots["text"])
        return respond(slots, occasion) if apart else None

    return respond_where_set_apart


repeat_announced = announced(repeat)


def repeat_after(slots: Slots, occasion: Occasion) -> Answer | None:
    respond = repeat_announced if goes_on(slots["text"]) else repeat
    return respond(slots, occasion)


def say(slots: Slots, occasion: Occasion) -> Answer | None:
    return None if _NO_WORDS.search(slots["text"].rstrip(".!? ")) else repeat(slots, occasion)


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
