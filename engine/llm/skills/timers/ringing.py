"""Dismiss or snooze a ringing timer by voice.

Invariant: a sentence such as "stop" applies to a timer only while one rings.
"""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from engine.llm.base import AssistantState, Timer
from engine.llm.skills.languages.commands import in_english
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.intent import Answer, Intent, SkillContext, Slots
from engine.llm.skills.matching.quantities import duration_phrase, parse_duration
from engine.llm.skills.matching.repertoire import Templates, repertoire
from engine.llm.skills.timers.choosing import name, numbers
from engine.llm.skills.timers.setting import MAX_TIMER_S, TOO_LONG
from engine.messages.timers import SNOOZE_S, CancelTimers, ExtendTimers

_NAMES: Final = frozenset(("dismiss", "snooze", "snooze a while"))
_MOST_CHARS: Final = 60  # a longer sentence says something else as well


def dismiss(_slots: Slots, context: SkillContext) -> Answer | None:
    ringing = _ringing(context)
    if not ringing:
        return None
    which = f"the {name(ringing[0])} is" if len(ringing) == 1 else "they are"
    return Answer(f"All right, {which} off.", (CancelTimers(numbers(ringing)),))


def snooze(slots: Slots, context: SkillContext) -> Answer | None:
    """Ring again after the requested time, "five more minutes"."""
    said = slots.get("duration") or slots.get("extra", "").replace(" more ", " ")
    seconds = parse_duration(said)
    return _snoozed(seconds, context) if seconds is not None and _ringing(context) else None


def snooze_usual(_slots: Slots, context: SkillContext) -> Answer | None:
    return _snoozed(SNOOZE_S, context) if _ringing(context) else None


def ring_wish(said: str, state: AssistantState) -> CancelTimers | ExtendTimers | None:
    """Return the request for a ringing timer; None if none rings, or the text says something
    else.
    """
    if len(said) > _MOST_CHARS or not any(timer.rings for timer in state.timers):
        return None
    context = SkillContext(datetime.now, lambda: state, Path())
    for intent, slots in _templates().matches(canonical(in_english(said))):
        answer = intent.respond(slots, context)
        for action in answer.actions if answer else ():
            if isinstance(action, CancelTimers | ExtendTimers):
                return action
    return None


def _ringing(context: SkillContext) -> tuple[Timer, ...]:
    return tuple(timer for timer in context.state().timers if timer.rings)


def _snoozed(seconds: float, context: SkillContext) -> Answer:
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    again = ExtendTimers(numbers(_ringing(context)), seconds)
    return Answer(f"Again in {duration_phrase(seconds)}.", (again,))


@cache
def _templates() -> Templates[Intent]:
    known = repertoire()
    return known.templates([each for each in known.intents if each.name in _NAMES])
