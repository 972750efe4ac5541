"""Which timers, alarms and reminders there are, and how long they still run."""

from datetime import timedelta

from engine.llm.base import Timer
from engine.llm.skills.clock.moments import moment_phrase
from engine.llm.skills.matching.intent import Answer, Occasion, Slots
from engine.llm.skills.matching.quantities import enumeration
from engine.llm.skills.timers.alarms import alarms_at
from engine.llm.skills.timers.choosing import (
    NONE_RUNNING,
    clean_label,
    name,
    named,
    remaining,
    running,
)
from engine.messages.timers import TimerKind


def tell_remaining(slots: Slots, occasion: Occasion) -> Answer:
    """The remaining time of the named timer, or of all."""
    timers = running(occasion)
    label = clean_label(slots.get("label", ""))
    if not timers:
        return Answer(NONE_RUNNING)
    chosen = named(label, timers) if label else timers
    if not chosen:
        return Answer(f"There is no {label} timer. {remaining(timers)}")
    return Answer(remaining(chosen))


def tell_named(slots: Slots, occasion: Occasion) -> Answer | None:
    """The same without the word "timer": only for a running one."""
    known = named(slots["label"], running(occasion))
    return tell_remaining(slots, occasion) if known else None


def tell_all(slots: Slots, occasion: Occasion) -> Answer:
    """The alarms, or the reminders, with their times, as `kind` says."""
    kind = TimerKind(slots["kind"])
    found = sorted(running(occasion, kind), key=lambda timer: timer.remaining_s)
    if not found:
        return Answer(f"There is no {kind.value} set.")
    return Answer(f"You have {enumeration([_with_time(each, occasion) for each in found])}.")


def tell_alarms_at(slots: Slots, occasion: Occasion) -> Answer | None:
    """The alarms at a time of day, or on a day."""
    alarms = alarms_at(slots["moment"], occasion)
    if alarms is None:
        return None
    if not alarms:
        return Answer("There is no such alarm.")
    return Answer(f"You have {enumeration([_with_time(each, occasion) for each in alarms])}.")


def tell_next_alarm(_slots: Slots, occasion: Occasion) -> Answer:
    alarms = running(occasion, TimerKind.ALARM)
    if not alarms:
        return Answer("There is no alarm set.")
    first = min(alarms, key=lambda timer: timer.remaining_s)
    return Answer(f"Your next alarm is at {_when(first, occasion)}.")


def tell_everything(_slots: Slots, occasion: Occasion) -> Answer:
    """Timers with their remaining time, alarms and reminders with their times."""
    timers = occasion.situation().timers
    if not timers:
        return Answer(NONE_RUNNING)
    said = [remaining(found)] if (found := running(occasion)) else []
    others = [kind for kind in (TimerKind.ALARM, TimerKind.REMINDER) if running(occasion, kind)]
    said += [tell_all({"kind": kind.value}, occasion).text for kind in others]
    return Answer(" ".join(said))


def _with_time(timer: Timer, occasion: Occasion) -> str:
    article = "an" if timer.kind is TimerKind.ALARM else "a"
    what = "alarm" if timer.kind is TimerKind.ALARM else name(timer)
    return f"{article} {what} at {_when(timer, occasion)}"


def _when(timer: Timer, occasion: Occasion) -> str:
    now = occasion.now()
    # Half a second more: 6:59:59.9 is seven o'clock.
    return moment_phrase(now + timedelta(seconds=timer.remaining_s + 0.5), now)
