"""List timers, alarms and reminders, and their remaining time."""

from collections.abc import Sequence

from engine.llm.base import Timer
from engine.llm.skills.clock.hours import moment_after, moment_phrase
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
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


def tell_remaining(slots: Slots, context: SkillContext) -> Answer:
    """Tell the remaining time of the named timer or all; without one, alarms and reminders."""
    timers = running(context)
    label = clean_label(slots.get("label", ""))
    if not timers:
        others = context.state().timers
        return Answer(
            f"{NONE_RUNNING} {tell_everything(slots, context).text}" if others else NONE_RUNNING
        )
    if chosen := named(label, timers) if label else timers:
        return Answer(remaining(chosen))
    return Answer(f"There is no {label} timer. {remaining(timers)}")


def tell_named(slots: Slots, context: SkillContext) -> Answer | None:
    """Return the remaining time without the word "timer": only of a running one."""
    known = named(slots["label"], running(context))
    return tell_remaining(slots, context) if known else None


def tell_all(slots: Slots, context: SkillContext) -> Answer:
    """List the alarms, or the reminders, with their times, as `kind` says."""
    kind = TimerKind(slots["kind"])
    found = sorted(running(context, kind), key=lambda timer: timer.remaining_s)
    return _listed(found, f"There is no {kind.value} set.", context)


def tell_alarms_at(slots: Slots, context: SkillContext) -> Answer | None:
    """List the alarms at a time of day, or on a day."""
    alarms = alarms_at(slots["moment"], context)
    return None if alarms is None else _listed(alarms, "There is no such alarm.", context)


def tell_next_alarm(_slots: Slots, context: SkillContext) -> Answer:
    alarms = running(context, TimerKind.ALARM)
    if not alarms:
        return Answer("There is no alarm set.")
    first = min(alarms, key=lambda timer: timer.remaining_s)
    return Answer(f"Your next alarm is at {_when(first, context)}.")


def tell_everything(_slots: Slots, context: SkillContext) -> Answer:
    """List timers with their remaining time, alarms and reminders with their times."""
    timers = context.state().timers
    if not timers:
        return Answer(NONE_RUNNING)
    said = [remaining(found)] if (found := running(context)) else []
    others = [kind for kind in (TimerKind.ALARM, TimerKind.REMINDER) if running(context, kind)]
    said += [tell_all({"kind": kind.value}, context).text for kind in others]
    said += [f"Your {name(timer)} has rung." for timer in timers if timer.rang]
    return Answer(" ".join(said))


def _listed(timers: Sequence[Timer], nothing: str, context: SkillContext) -> Answer:
    """Return alarms or reminders with their times; `nothing` if there are none."""
    names = ("an alarm" if each.kind is TimerKind.ALARM else f"a {name(each)}" for each in timers)
    times = (_when(each, context) for each in timers)
    phrases = [f"{what} at {when}" for what, when in zip(names, times, strict=True)]
    return Answer(f"You have {enumeration(phrases)}." if phrases else nothing)


def _when(timer: Timer, context: SkillContext) -> str:
    now = context.now()
    # Half a second more: 6:59:59.9 is seven o'clock.
    return moment_phrase(moment_after(now, timer.remaining_s + 0.5), now)
