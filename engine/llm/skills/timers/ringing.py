"""Dismiss or snooze a ringing timer by voice.

Invariant: a sentence such as "stop" applies to a timer only while one rings.
"""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from engine.llm.base import Situation, Timer
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.intent import Answer, Intent, Occasion, Slots
from engine.llm.skills.matching.quantities import duration_phrase, parse_duration
from engine.llm.skills.matching.repertoire import Templates, repertoire
from engine.llm.skills.timers.choosing import name, numbers
from engine.llm.skills.timers.setting import MAX_TIMER_S, TOO_LONG
from engine.messages.timers import SNOOZE_S, CancelTimers, ExtendTimers

_NAMES: Final = frozenset(("dismiss", "snooze", "snooze a while"))
_MOST_CHARS: Final = 60  # a longer sentence says something else as well


def dismiss(_slots: Slots, occasion: Occasion) -> Answer | None:
    ringing = _ringing(occasion)
    if not ringing:
        return None
    which = f"the {name(ringing[0])} is" if len(ringing) == 1 else "they are"
    return Answer(f"All right, {which} off.", (CancelTimers(numbers(ringing)),))


def snooze(slots: Slots, occasion: Occasion) -> Answer | None:
    """Ring again after the requested time, "five more minutes"."""
    said = slots.get("duration") or slots.get("extra", "").replace(" more ", " ")
    seconds = parse_duration(said)
    return _snoozed(seconds, occasion) if seconds is not None and _ringing(occasion) else None


def snooze_usual(_slots: Slots, occasion: Occasion) -> Answer | None:
    return _snoozed(SNOOZE_S, occasion) if _ringing(occasion) else None


def ring_wish(said: str, situation: Situation) -> CancelTimers | ExtendTimers | None:
    """Return the request for a ringing timer; None if none rings, or the text says something
    else.
    """
    if len(said) > _MOST_CHARS or not any(timer.rings for timer in situation.timers):
        return None
    occasion = Occasion(datetime.now, lambda: situation, Path())
    for intent, slots in _templates().matches(canonical(said)):
        answer = intent.respond(slots, occasion)
        for action in answer.actions if answer else ():
            if isinstance(action, CancelTimers | ExtendTimers):
                return action
    return None


def _ringing(occasion: Occasion) -> tuple[Timer, ...]:
    return tuple(timer for timer in occasion.situation().timers if timer.rings)


def _snoozed(seconds: float, occasion: Occasion) -> Answer:
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    again = ExtendTimers(numbers(_ringing(occasion)), seconds)
    return Answer(f"Again in {duration_phrase(seconds)}.", (again,))


@cache
def _templates() -> Templates[Intent]:
    known = repertoire()
    return known.templates([each for each in known.intents if each.name in _NAMES])
