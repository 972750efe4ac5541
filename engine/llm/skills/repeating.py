"""Repeating the person's words, and saying the last answer again.

Invariant: the words come back exactly as they were typed or heard; nothing is added.
"""

import re
from dataclasses import replace

from engine.llm.base import ChangeRate, Role
from engine.llm.skills.control.pace import STEP
from engine.llm.skills.matching.fillings import goes_on
from engine.llm.skills.matching.intent import (
    Answer,
    Family,
    Intent,
    Occasion,
    Responder,
    Slots,
    sentence,
)

SAY_AGAIN = "say again"

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


def repeat_after(slots: Slots, occasion: Occasion) -> Answer | None:
    respond = announced(repeat) if goes_on(slots["text"]) else repeat
    return respond(slots, occasion)


def say(slots: Slots, occasion: Occasion) -> Answer | None:
    return None if _NO_WORDS.search(slots["text"].rstrip(".!? ")) else repeat(slots, occasion)


def ask_what_to_repeat(_slots: Slots, _occasion: Occasion) -> Answer:
    return Answer("What shall I say? Say it in one go: repeat after me, and then your words.")


def say_again_at(by: float) -> Responder:
    """A responder that says it again at a pace changed by `by` SPS."""

    def respond(slots: Slots, occasion: Occasion) -> Answer:
        again = say_again(slots, occasion)
        return replace(again, actions=(ChangeRate(by=by),))

    return respond


def say_again(_slots: Slots, occasion: Occasion) -> Answer:
    """The last thing that was heard from the assistant."""
    for message in reversed(occasion.history):
        if message.role is Role.ASSISTANT and message.text.strip():
            return Answer(message.text, private=message.private)
    return Answer("I haven't said anything yet.")


_THIS = (
    "repeat (this|the following|these words) {text}",
    "(say|speak) (this|the following|these words) [out loud|aloud] {text}",
)

_THAT = (
    "(that|it|yourself|(what you|what you've) [have|just] said|what you just told me"
    "|(the|your|that) last (sentence|thing|part|words|answer|response|statement|message) [you said]"
    "|(the|your|that) (answer|response|statement))"
)
_AGAIN = "([one more] again|once more|one more time|once again|another time|over [again]) [again]"
_PLEASE = "[please|for me|to me]"
_MISSED = (
    "[i'm sorry|i am sorry|sorry] i ((did not|didn't|could not|couldn't) [quite] "
    "(catch|hear|get|understand) (that|you|what you [just] said)|missed (that|what you said))"
)

FAMILY = Family(
    intents=(
        Intent(
            SAY_AGAIN,
            (
                f"(say|repeat) {_THAT} [{_AGAIN}] {_PLEASE}",
                f"[please] (say|tell me|speak|repeat|ask me) [{_THAT}] {_AGAIN} {_PLEASE}",
                f"[please] (repeat|replay) {_PLEASE}",
                f"(it|that) {_AGAIN} {_PLEASE}",
                f"(say|ask|repeat) the question {_AGAIN} {_PLEASE}",
                f"replay {_THAT} {_PLEASE}",
                "(what|pardon|pardon me|i beg your pardon|sorry|excuse me) [what did you say]",
                "(what did you|what was it you|what did you just) (say|said|ask) [again]",
                f"(what was that [last thing] [you [just] said]|come again) [{_AGAIN}] {_PLEASE}",
                f"(one more time|once more) {_PLEASE}",
                f"{_MISSED} [[so|and] [please] [(can|could|would) you] [please] "
                f"(say|repeat) [{_THAT}] [{_AGAIN}]]",
                f"(i want|i need|i would like|i'd like|let me) [to] hear {_THAT} {_AGAIN}",
                "i am [going to] need you to (say|repeat) that again",
            ),
            say_again,
            verbatim=True,
        ),
        Intent(
            "say again slower",
            (
                "(say (that|it) again|repeat (that|it)) [please] [a (bit|little)] "
                "(slower|more slowly|slowly) [please]",
            ),
            say_again_at(-STEP),
            verbatim=True,
        ),
        Intent(
            "say again faster",
            (
                "(say (that|it) again|repeat (that|it)) [a (bit|little)] "
                "(faster|quicker|more quickly)",
            ),
            say_again_at(STEP),
            verbatim=True,
        ),
        Intent(
            "repeat without words",
            ("repeat (after me|this|the following)", "say (this|the following)"),
            ask_what_to_repeat,
            verbatim=True,
        ),
        Intent("repeat", ("repeat after me {text}",), repeat_after, verbatim=True),
        Intent("repeat this", _THIS, announced(repeat), verbatim=True),
        Intent("perhaps repeat this", _THIS, repeat, verbatim=True, certain=False),
        Intent("say", ("(say|repeat) {text}",), say, verbatim=True, certain=False),
    ),
    open_lists={
        "text": (
            "hello world",
            "good morning everybody",
            "the quick brown fox jumps over the lazy dog",
            "i am your assistant",
            "the weather is nice today",
            "thank you very much",
        ),
    },
)
