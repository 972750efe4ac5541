"""Questions about the likely meaning of a sentence: "Shall I make the window dark?".

Only without a language model. A model answers such sentences itself.
Invariant: nothing is done before a yes to the question.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.llm.base import Message
from engine.llm.skills.matching.gist import Meaning, meanings
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, last_answer, sentence
from engine.llm.skills.matching.repertoire import repertoire
from engine.llm.skills.voices import kind_name
from engine.llm.skills.window import ASKS, NO_WINDOW
from engine.resources import table


def ask(slots: Slots, context: SkillContext) -> Answer | None:
    """Ask whether the likeliest meaning is right, unless its answer asks anyway; with `agreed`,
    answer what was asked about.
    """
    agreed = {name: value for name, value in slots.items() if name == "agreed"}
    if agreed:
        context = replace(context, history=_until_asked(context))
    for meaning in meanings(sentence(context), context.state().voices):
        answer = _answer(meaning, agreed, context)
        if answer is not None:
            unasked = answer.text == NO_WINDOW or (not answer.actions and answer.text.endswith("?"))
            return answer if agreed or unasked else Answer(_question(meaning))
    return None


def agree(before: Slots, _now: Slots, _context: SkillContext) -> Slots:
    return {**before, "agreed": "yes"}


def _until_asked(context: SkillContext) -> Sequence[Message]:
    """Return the history up to the sentence before the question, which may have been repeated."""
    asked, history = last_answer(context), context.history[:-2]
    while len(history) > 2 and history[-2].text == asked:
        history = history[:-2]
    return history


def _answer(meaning: Meaning, agreed: Slots, context: SkillContext) -> Answer | None:
    respond = next(
        intent.respond for intent in repertoire().intents if intent.name == meaning.intent
    )
    return respond({**meaning.slots, **agreed}, context)


def _question(meaning: Meaning) -> str:
    values = {"kinds": kind_name(meaning.slots), **meaning.slots}
    return f"{ASKS} {table('skills', 'clarification.toml')[meaning.intent].format_map(values)}?"
