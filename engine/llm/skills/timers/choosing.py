"""Find the running timers that the user means.

Invariant: when several may be meant, nothing is changed and the user is asked which. The question
begins with WHICH, so that the next sentence is recognised as its answer.
"""

import re
from collections.abc import Callable, Iterable

from engine.llm.base import Timer
from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import duration_phrase, enumeration, parse_duration
from engine.messages.timers import CancelTimers, TimerKind

NONE_RUNNING = "There is no timer running."
WHICH = "Which timer"
ALL = "all"

_ALL = frozenset((ALL, "both", "all of them", "both of them", "every", "all the", "all my"))
_ARTICLES = ("a ", "an ", "the ", "my ", "new ")
_NO_LABEL = frozenset(("a", "an", "the", "my", "new", "timer"))
_UNNAMED = frozenset(("unnamed", "nameless", "other", "one without a name"))
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


def cancelled(timers: tuple[Timer, ...], kind: TimerKind) -> Answer:
    """Return the answer that cancels alarms or reminders."""
    if not timers:
        return Answer(f"There is no {kind.value} set.")
    said = f"The {name(timers[0])} is" if len(timers) == 1 else f"All {kind.value}s are"
    return Answer(f"{said} cancelled.", (CancelTimers(numbers(timers)),))


def _left(timer: Timer) -> str:
    return f"{duration_phrase(timer.remaining_s)} left{', paused,' if timer.paused else ''}"
