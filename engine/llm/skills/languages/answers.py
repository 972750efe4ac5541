"""Answers without a language model in the languages other than English."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from engine.languages import ENGLISH
from engine.llm.base import Action, ChangeVolume, Message, Role, StartTimer, Timer
from engine.llm.skills.abilities import MISHEARD
from engine.llm.skills.clock.hours import moment_after
from engine.llm.skills.languages.commands import OFFER, Command, Times, command, texts_of, times
from engine.llm.skills.matching.intent import Answer, SkillContext, last_answer
from engine.llm.skills.matching.matcher import Matcher
from engine.llm.skills.offers import needed, needed_model, size_text
from engine.llm.skills.timers.choosing import running
from engine.messages.models import Presence, UseModel
from engine.messages.timers import ExtendTimers, TimerKind

Row = Mapping[str, str]
Texts = Mapping[str, Any]


def answer(context: SkillContext, matcher: Matcher, *, certain_only: bool) -> Answer | None:
    """Carry out a command; unless `certain_only`, also a suggested one or small talk. Else None."""
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
    if done is None or (certain_only and "talk" in found.row and not done.actions):
        return None
    texts = texts_of(asked.language)
    actions = tuple(_in_language(each, texts) for each in done.actions)
    text = _text(found.row, done, context, times(asked.language), texts) or done.text
    return replace(done, text=text if found.row["means"] != "stop" else "", actions=actions)


def unknown(context: SkillContext) -> Answer:
    """Answer a question that only a language model could answer, in the question's language."""
    asked = context.history[-1]
    texts = texts_of(asked.language)
    if asked.confidence < MISHEARD:
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


def _text(row: Row, done: Answer, context: SkillContext, times: Times, texts: Texts) -> str:
    """Return the text of a row with its values; empty if the skill's text is meant."""
    said = row["answer"] if done.actions else row.get("limit", row["answer"])
    if any(isinstance(each, UseModel) for each in done.actions):
        return str(texts["using"])
    values, one = _values(done, context, times), False
    if "{left}" in said:
        return _left(row, running(context), times, texts)
    if "{which}" in said:
        return _which(row, context, times, texts)
    if "{time}" in said:
        one = values["time"].startswith("1:")
    return (row.get("at_one", said) if one else said).format_map(values)


def _left(row: Row, timers: Sequence[Timer], times: Times, texts: Texts) -> str:
    """Return how much time each timer has left."""
    timers = sorted(timers, key=lambda timer: timer.remaining_s)
    if len(timers) == 1:
        left = times.phrase(timers[0].remaining_s)
        one = left.startswith("1 ") and len(left.split()) == 2
        return row["at_one" if one and "at_one" in row else "answer"].format(left=left)
    lengths = [(times.phrase(each.remaining_s), times.phrase(each.seconds)) for each in timers]
    each = [texts["each"].format(left=left, length=length) for left, length in lengths]
    return row["answer"].format(left=times.joined(each)) if each else str(texts["no_timer"])


def _which(row: Row, context: SkillContext, times: Times, texts: Texts) -> str:
    """Return the question which timer or alarm is meant."""
    alarms = "alarm" in row["means"] and running(context, TimerKind.ALARM)
    found = sorted(alarms or running(context), key=lambda timer: timer.remaining_s)
    if not found:
        return str(texts["no_timer"])
    if not alarms:
        names = [times.phrase(timer.seconds) for timer in found]
        return str(texts["which"].format(names=times.joined(names)))
    moments = (moment_after(context.now(), timer.remaining_s + 0.5) for timer in found)
    names = [_clock(moment) for moment in moments]
    return str(texts["which_alarm"].format(names=times.joined(names)))


def _clock(moment: datetime) -> str:
    return f"{moment.hour}:{moment.minute:02}"


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
    return {"time": _clock(now), **values}
