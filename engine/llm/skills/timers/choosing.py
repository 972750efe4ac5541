"""Find the timers, alarms and reminders that the user means, and tell their remaining time.

Invariant: when several may be meant, nothing is changed and the user is asked which. The question
begins with WHICH, so that the next sentence is recognised as its answer.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from engine.llm.base import Timer
from engine.llm.skills.clock.days import day_named
from engine.llm.skills.clock.hours import clock_face, moment_after, moment_phrase, parse_moment
from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import duration_phrase, enumeration, parse_duration
from engine.messages.timers import CancelTimers, TimerKind

ALARM = "alarm"  # the end of its label
NONE_RUNNING = "There is no timer running."
WHICH = "Which timer"
ALL = "all"

_ALL = frozenset((ALL, "both", "all of them", "both of them", "every", "all the", "all my"))
_ARTICLES = ("a ", "an ", "the ", "my ", "new ")
_NO_LABEL = frozenset(("a", "an", "the", "my", "new", "timer"))
_UNNAMED = frozenset(("unnamed", "nameless", "other", "one without a name"))
_PART_OF_DAY = re.compile(r"'s$| (?:morning|afternoon|evening|night)$")
_NO_LABEL_AT_END = re.compile(r"\b(?:timer|a)$")  # "quiet a" before "timer"
# Words that choose by the remaining time.
_BY_LENGTH: dict[str, Callable[[Timer], float]] = {
    **dict.fromkeys(("short", "shorter", "shortest", "next"), lambda timer: timer.remaining_s),
    **dict.fromkeys(("long", "longer", "longest"), lambda timer: -timer.remaining_s),
    **dict.fromkeys(("1st", "oldest"), lambda timer: timer.number),
    **dict.fromkeys(("last", "latest", "newest", "new"), lambda timer: -timer.number),
}


def clean_label(label: str) -> str:
    label = label.strip()
    for article in _ARTICLES:
        label = label.removeprefix(article)
    return "" if label in _NO_LABEL else label


def is_label(said: str) -> bool:
    """Return whether this is a timer's name, or selects a timer."""
    label = clean_label(said)
    if label in _ALL or label in _UNNAMED or label in _BY_LENGTH or parse_duration(label):
        return True
    return is_name(label) and label[:1].isalpha() and not _NO_LABEL_AT_END.search(label)


def running(context: SkillContext, kind: TimerKind = TimerKind.TIMER) -> tuple[Timer, ...]:
    """Return the timers that have not rung yet."""
    timers = context.state().timers
    return tuple(timer for timer in timers if timer.kind is kind and not timer.rang)


def meant(slots: Slots, context: SkillContext) -> tuple[Timer, ...] | Answer:
    """Return the timers that are meant, or else the answer to give instead."""
    timers = running(context)
    said = slots.get("label", "").strip()
    if not timers:
        return Answer(NONE_RUNNING)
    if said in _ALL:
        return timers
    label = clean_label(said)
    if not label:
        return timers if len(timers) == 1 else Answer(which(timers))
    found = named(label, timers)
    if not found:
        return Answer(f"There is no {label} timer. {remaining(timers)}")
    return found if len(found) == 1 else Answer(which(found))


def named(label: str, timers: tuple[Timer, ...]) -> tuple[Timer, ...]:
    """Return the timers with this name, this duration or this place in their order."""
    label = clean_label(label)
    if label in _ALL:
        return timers
    if called := tuple(timer for timer in timers if timer.label == label):
        return called
    if label in _UNNAMED:
        return tuple(timer for timer in timers if not timer.label)
    if label in _BY_LENGTH and timers:
        return (min(timers, key=_BY_LENGTH[label]),)
    seconds = parse_duration(label)
    return tuple(timer for timer in timers if seconds is not None and timer.seconds == seconds)


def which(timers: tuple[Timer, ...]) -> str:
    names = [f"the {name(timer)} with {_left(timer)}" for timer in timers]
    return f"{WHICH}: {enumeration(names, 'or')}?"


def remaining(timers: tuple[Timer, ...]) -> str:
    """ "4 minutes left on your tea timer and 10 seconds left on your timer of 1 minute." """
    several = len(timers) > 1
    phrases = []
    for timer in timers:
        unnamed = several and not timer.label
        length = f" of {duration_phrase(timer.seconds)}" if unnamed else ""
        phrases.append(f"{_left(timer)} on your {name(timer)}{length}")
    return f"{enumeration(phrases)}."


def name(timer: Timer) -> str:
    if timer.kind is TimerKind.REMINDER:
        return f"reminder to {timer.label}"
    if timer.kind is TimerKind.ALARM:
        return timer.label
    return f"{timer.label} timer" if timer.label else "timer"


def the_timers(timers: tuple[Timer, ...]) -> str:
    """ "The tea timer", "All timers"; "The timer" when there is only one and it has no name."""
    if len(timers) == 1:
        return f"The {name(timers[0])}"
    return "Both timers" if len(timers) == 2 else "All timers"


def numbers(timers: Iterable[Timer]) -> tuple[int, ...]:
    return tuple(timer.number for timer in timers)


def newest_of(timers: Iterable[Timer]) -> Timer:
    return max(timers, key=lambda timer: timer.number)


def cancelled(timers: tuple[Timer, ...], kind: TimerKind, slots: Slots) -> Answer:
    """Return the answer that cancels alarms or reminders; of several it asks which, unless `all`
    are meant.
    """
    if not timers:
        return Answer(f"There is no {kind.value} set.")
    if len(timers) > 1 and "all" not in slots:
        to = "to" if kind is TimerKind.REMINDER else "the"
        names = [f"{to} {timer.label}" for timer in timers]
        return Answer(f"Which {kind.value}: {enumeration(names, 'or')}?")
    said = f"The {name(timers[0])} is" if len(timers) == 1 else f"All {kind.value}s are"
    return Answer(f"{said} cancelled.", (CancelTimers(numbers(timers)),))


def _left(timer: Timer) -> str:
    return f"{duration_phrase(timer.remaining_s)} left{', paused,' if timer.paused else ''}"


def alarms_at(when: str, context: SkillContext) -> tuple[Timer, ...] | None:
    """Return the alarms at a time of day, or on a day; None when neither is named."""
    now, alarms = context.now(), running(context, TimerKind.ALARM)
    if moment := parse_moment(when, now):
        label = f"{clock_face(moment)} {ALARM}"
        other = label.replace("AM", "PM") if "AM" in label else label.replace("PM", "AM")
        return tuple(alarm for alarm in alarms if alarm.label in (label, other))
    day = day_named(_PART_OF_DAY.sub("", when.strip()), now.date())
    if day is None or re.match(r"(?:the )?\d", when.strip()):  # "the 1st alarm" counts them
        return None
    return tuple(each for each in alarms if moment_after(now, each.remaining_s).date() == day)


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
