"""Dismiss or snooze a ringing timer by voice.

Invariant: a sentence such as "stop" applies to a timer only while one rings.
"""

from typing import Final

from engine.llm.base import AssistantState, Timer
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import duration_phrase, parse_duration
from engine.llm.skills.matching.repertoire import wished
from engine.llm.skills.timers.choosing import name, numbers
from engine.llm.skills.timers.setting import MAX_TIMER_S, TOO_LONG
from engine.messages.timers import SNOOZE_S, CancelTimers, ExtendTimers

_NAMES: Final = frozenset(("dismiss", "snooze", "snooze a while"))


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
    if not any(timer.rings for timer in state.timers):
        return None
    asked = wished(said, _NAMES, state)
    return next((each for each in asked if isinstance(each, CancelTimers | ExtendTimers)), None)


def _ringing(context: SkillContext) -> tuple[Timer, ...]:
    return tuple(timer for timer in context.state().timers if timer.rings)


def _snoozed(seconds: float, context: SkillContext) -> Answer:
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    again = ExtendTimers(numbers(_ringing(context)), seconds)
    return Answer(f"Again in {duration_phrase(seconds)}.", (again,))
