"""Offers and questions, and the yes or no to them: to fetch a recommended model, and whether the
likely meaning of a sentence is right ("Shall I make the window dark?").

Invariant: the size of a model is announced before it is fetched. Nothing is fetched or done before
a yes. A meaning is only asked about without a language model, which answers such sentences itself.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from engine.llm.base import Action, Message, Role
from engine.llm.skills.matching.gist import meanings
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, last_answer, sentence
from engine.llm.skills.matching.repertoire import repertoire
from engine.llm.skills.voices import kind_name
from engine.llm.skills.window import ASKS, NO_WINDOW, QUIT_QUESTIONS, REMOVAL, page
from engine.messages.models import FetchModels, ModelEntry, ModelKind, Presence, UseModel
from engine.resources import table

NEEDED = "That needs a language model"
_ABOUT_MODEL = re.compile(r"\bThat needs (?:a|the) language model\b")
_FETCHES = re.compile(r"\b(?:fetch|get|download|install|load)\b", re.IGNORECASE)
# The benefit of each kind of model, by which an earlier offer is recognised.
_GIVES: dict[str, str] = {
    ModelKind.LANGUAGE_MODEL: "thinks",
    ModelKind.VOICE: "speaks",
    ModelKind.RECOGNISER: "listens",
}


def needed(context: SkillContext) -> str:
    """Return why a question is not answered, and where possible an offer of a model."""
    model = needed_model(context)
    if model is None:
        return f"{NEEDED}. Say: show the models." if page(context, "models") else f"{NEEDED}."
    if model.state is Presence.COMPLETE:
        return f"{NEEDED}, which is here already. Shall I use it?"
    return f"{NEEDED}, {size_text(model.megabytes)}. Shall I fetch it?"


def offer(slots: Slots, context: SkillContext) -> Answer:
    """Name the recommended model of a `kind` ("all": of every kind) and its size, and ask."""
    models = _of_kind(slots["kind"], context)
    missing = [each for each in models if each.state is not Presence.COMPLETE]
    names = " and ".join(f"{_short(each)}, which {_GIVES[each.kind]}" for each in missing or models)
    if missing:
        size = size_text(sum(each.megabytes for each in missing))
        return Answer(f"I recommend {names}: {size}. Shall I fetch it?")
    if models and not all(each.in_use for each in models):
        return Answer(f"I have {names}. Shall I use it?")
    said = "I use the best for this machine already" if models else "There are several"
    shown = page(context, "models")
    return Answer(f"{said}. Here are the models." if shown else f"{said}.", shown)


def agree(_slots: Slots, context: SkillContext) -> Answer | None:
    """Carry out the last offer or question; None when there was none."""
    asked = last_answer(context)
    if asked in (REMOVAL, *QUIT_QUESTIONS):
        return Answer(actions=page(context, "delete" if asked == REMOVAL else "quit"))
    models = _offered(asked, context)
    if not models:
        return None
    missing = tuple(each.name for each in models if each.state is not Presence.COMPLETE)
    if missing:
        fetch: tuple[Action, ...] = (FetchModels(missing, use=True),)
        return Answer(
            "I'm fetching it, and use it as soon as it is here.", fetch + page(context, "models")
        )
    return Answer("I use it from now on.", tuple(UseModel(each.name) for each in models))


def refuse(_slots: Slots, context: SkillContext) -> Answer | None:
    """Drop the last offer or question; None when there was none."""
    asked = last_answer(context)
    if asked == REMOVAL:
        return Answer("All right, it stays.")
    if asked in QUIT_QUESTIONS or asked.startswith(ASKS):
        return Answer("All right.")
    return Answer("All right. I do what I can without.") if _offered(asked, context) else None


def was_offered(context: SkillContext) -> bool:
    """Return whether this conversation already mentioned that a language model is needed."""
    said = (each.text for each in context.history if each.role is Role.ASSISTANT)
    return any(NEEDED in text for text in said)


def _offered(asked: str, context: SkillContext) -> tuple[ModelEntry, ...]:
    """Return the models that the answer `asked` offered. The answer may be incomplete."""
    fetches = was_offered(context) and _FETCHES.search(sentence(context))
    if fetches or _ABOUT_MODEL.search(asked):
        return _of_kind(ModelKind.LANGUAGE_MODEL, context)
    if ASKS not in asked:
        return ()
    return tuple(each for each in context.state().offers() if _short(each) in asked)


def needed_model(context: SkillContext) -> ModelEntry | None:
    """Return the language model that is recommended for this machine."""
    return next(iter(_of_kind(ModelKind.LANGUAGE_MODEL, context)), None)


def _of_kind(kind: str, context: SkillContext) -> tuple[ModelEntry, ...]:
    return tuple(each for each in context.state().offers() if kind in ("all", each.kind))


def _short(model: ModelEntry) -> str:
    """Return the title without its explanations."""
    return re.split(r"[:,(]", model.title)[0].strip()


def size_text(megabytes: int) -> str:
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes} MB"


def ask(slots: Slots, context: SkillContext) -> Answer | None:
    """Ask whether the likeliest meaning is right; with `agreed`, answer it."""
    agreed = {name: value for name, value in slots.items() if name == "agreed"}
    if agreed:
        context = replace(context, history=_until_asked(context))
    for meaning in meanings(sentence(context), context.state().voices):
        respond = next(
            intent.respond for intent in repertoire().intents if intent.name == meaning.intent
        )
        answer = respond({**meaning.slots, **agreed}, context)
        if answer is not None:
            unasked = answer.text == NO_WINDOW or (not answer.actions and answer.text.endswith("?"))
            if agreed or unasked:
                return answer
            values = {"kinds": kind_name(meaning.slots), **meaning.slots}
            asked = table("skills", "clarification.toml")[meaning.intent].format_map(values)
            return Answer(f"{ASKS} {asked}?")
    return None


def with_yes(before: Slots, _now: Slots, _context: SkillContext) -> Slots:
    return {**before, "agreed": "yes"}


def _until_asked(context: SkillContext) -> Sequence[Message]:
    """Return the history up to the sentence before the question, which may have been repeated."""
    asked, history = last_answer(context), context.history[:-2]
    while len(history) > 2 and history[-2].text == asked:
        history = history[:-2]
    return history
