"""Answers without a language model in the languages other than English."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.languages import ENGLISH
from engine.llm.base import Action, ChangeVolume, Message, Role, StartTimer
from engine.llm.skills.clock.hours import moment_after
from engine.llm.skills.languages.commands import OFFER, Command, command, texts_of
from engine.llm.skills.languages.times import Times, times
from engine.llm.skills.matching.intent import Answer, SkillContext, last_answer
from engine.llm.skills.matching.matcher import Matcher
from engine.llm.skills.offers import needed, needed_model, size_text
from engine.llm.skills.timers.choosing import running
from engine.messages.models import Presence, UseModel
from engine.messages.timers import ExtendTimers, TimerKind

_MISHEARD = 0.5  # confidence; see abilities.py


def answer(context: SkillContext, matcher: Matcher, *, certain_only: bool) -> Answer | None:
    """Carry out a command; unless `certain_only`, also one that some words suggest, or answer small
    talk. None for other words.
    """
    asked = context.history[-1]
    found = command(asked.text, asked.language, last_answer(context))
    if found is None or (certain_only and not (found.means and found.certain)):
        return None
    if not found.means:
        return Answer(found.row["answer"])
    done = None
    for means in found.means:
        done = matcher.answer(means, _in_english(context, means, found), certain_only=False)
        if done is not None and done.actions:
            break
    if done is None:
        return None
    texts = texts_of(asked.language)
    actions = tuple(_in_language(each, texts) for each in done.actions)
    text = _text(found.row, done, context, times(asked.language), texts) or done.text
    return replace(done, text=text if found.row["means"] != "stop" else "", actions=actions)


def unknown(context: SkillContext) -> Answer:
    """Answer a question that only a language model could answer, in the question's language."""
    asked = context.history[-1]
    texts = texts_of(asked.language)
    if asked.confidence < _MISHEARD:
        return Answer(texts["unheard"])
    model = needed_model(context)
    if model is None:
        return Answer(texts["unanswered"], unanswered=True)
    if model.state is Presence.COMPLETE:
        return Answer(texts["ready"], unanswered=True)
    size = size_text(model.megabytes).replace(".", ",")
    return Answer(texts["offer"].format(size=size), unanswered=True)


def _in_english(context: SkillContext, means: str, found: Command) -> SkillContext:
    """Return the context as if the user had spoken English, and so had the offer before."""
    *before, asked = context.history
    if found.row.get("after") == OFFER:
        before[-1] = Message(Role.ASSISTANT, needed(context))
    return replace(context, history=(*before, replace(asked, text=means, language=ENGLISH)))


def _in_language(action: Action, texts: Mapping[str, str]) -> Action:
    if not isinstance(action, StartTimer):
        return action
    done = "alarm_done" if action.kind is TimerKind.ALARM else "timer_done"
    return replace(action, text=texts[done])


def _text(
    row: Mapping[str, str], done: Answer, context: SkillContext, times: Times, texts: dict[str, Any]
) -> str:
    """Return the text of a row with its values; empty if the skill's text is meant."""
    timers = sorted(running(context), key=lambda timer: timer.remaining_s)
    said = row["answer"] if done.actions else row.get("limit", row["answer"])
    if ("{left}" in said or "{which}" in said) and not timers:
        return str(texts["no_timer"])
    if any(isinstance(each, UseModel) for each in done.actions):
        return str(texts["using"])
    values, one = _values(done, context, times), False
    if "{left}" in said:
        lefts = [times.phrase(timer.remaining_s) for timer in timers]
        one = len(lefts) == 1 and lefts[0].startswith("1 ") and len(lefts[0].split()) == 2
        lengths = (times.phrase(timer.seconds) for timer in timers)
        each = [texts["each"].format(left=x, length=y) for x, y in zip(lefts, lengths, strict=True)]
        values["left"] = lefts[0] if len(lefts) == 1 else times.joined(each)
    elif "{which}" in said:
        values["which"] = texts["which"].format(
            names=times.joined([times.phrase(timer.seconds) for timer in timers])
        )
    elif "{time}" in said:
        one = values["time"].startswith("1:")
    return (row.get("at_one", said) if one else said).format_map(values)


def _values(done: Answer, context: SkillContext, times: Times) -> dict[str, str]:
    """Return the time of day or of an alarm, the length of a timer, the new volume."""
    now, values = context.now(), dict[str, str]()
    for action in done.actions:
        if isinstance(action, StartTimer):
            values["duration"] = times.phrase(action.seconds)
            now = moment_after(now, action.seconds) if action.by_clock else now
        elif isinstance(action, ExtendTimers):
            values["duration"] = times.phrase(action.seconds)
        elif isinstance(action, ChangeVolume):
            values["n"] = f"{100 * (action.to or 0):.0f}"
    return {"time": f"{now.hour}:{now.minute:02}", **values}
