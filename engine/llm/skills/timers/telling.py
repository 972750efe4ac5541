"""Which timers, alarms and reminders there are, and how long they still run."""

from collections.abc import Callable
from datetime import timedelta

from engine.llm.base import Timer
from engine.llm.skills.clock.moments import moment_phrase
from engine.llm.skills.matching.intent import Answer, FollowUp, Intent, Occasion, Skill, Slots, Tool
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


def tell_all(kind: TimerKind) -> Callable[[Slots, Occasion], Answer]:
    """A responder that lists the alarms, or the reminders, with their times."""

    def respond(_slots: Slots, occasion: Occasion) -> Answer:
        found = sorted(running(occasion, kind), key=lambda timer: timer.remaining_s)
        if not found:
            return Answer(f"There is no {kind.value} set.")
        return Answer(f"You have {enumeration([_with_time(each, occasion) for each in found])}.")

    return respond


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


def tell_everything(slots: Slots, occasion: Occasion) -> Answer:
    """Timers with their remaining time, alarms and reminders with their times."""
    timers = occasion.situation().timers
    if not timers:
        return Answer(NONE_RUNNING)
    said = [remaining(found)] if (found := running(occasion)) else []
    others = [kind for kind in (TimerKind.ALARM, TimerKind.REMINDER) if running(occasion, kind)]
    said += [tell_all(kind)(slots, occasion).text for kind in others]
    return Answer(" ".join(said))


def _with_time(timer: Timer, occasion: Occasion) -> str:
    article = "an" if timer.kind is TimerKind.ALARM else "a"
    what = "alarm" if timer.kind is TimerKind.ALARM else name(timer)
    return f"{article} {what} at {_when(timer, occasion)}"


def _when(timer: Timer, occasion: Occasion) -> str:
    now = occasion.now()
    # Half a second more: 6:59:59.9 is seven o'clock.
    return moment_phrase(now + timedelta(seconds=timer.remaining_s + 0.5), now)


_LEFT = "how (long|much time|many minutes|much longer)"
_TIMER = "[the|my] [{label}] timer[s]"
_LIST = (
    "(list|show [me]|read [me]|give [me]|about|review|repeat|(i want to|let me) (see|hear)) "
    "[all] [of] [my|the] [upcoming]"
)
_SET = "[that] [(i have|i|are|have been)] [currently] [set [up]|listed|active|on|coming up]"
_HAVE = "(are|[are|is] there|[(do|did|have)] (i|you) [have|got|set])"
_REMINDERS = "(reminders|reminder[s] list|list of reminders)"

SKILL = Skill(
    intents=(
        Intent(
            "time left",
            (
                f"{_LEFT} [is|are] [there] left",
                f"{_LEFT} [is|are] [there] [left] on {_TIMER}",
                f"{_LEFT} (does|do) {_TIMER} have [left]",
                f"{_LEFT} until {_TIMER} (is done|rings|goes off|is up)",
                "how much longer",
                "how much time (do i have|have i got) left",
                f"is {_TIMER} [still] (running|done|over|going|finished)",
                "(what|which|how many) timers (are|do i have) [there|running|set]",
                "what timers are set",
                "what is (left|running) on (the|my) timers",
                "(list|show me|show) [all] [my|the] timers",
                "(do i have|are there) any timers [set|running]",
                f"when (is|does|will) {_TIMER} (done|ring|go off|end|finish|be done|up|over)",
                f"(check|status of) {_TIMER}",
                f"how is {_TIMER} [doing]",
                "what is left on [the|my] [{label}] timer",
            ),
            tell_remaining,
        ),
        Intent(
            "named time left",
            (
                f"{_LEFT} [is] [left] (on|for) [the|my] {{label}}",
                f"{_LEFT} (does|do) [the|my] {{label}} have [left]",
                "(is|are) [the|my] {label} (done|ready|finished) [yet]",
                "when (is|are|will) [the|my] {label} (done|ready|finished|be done|be ready)",
            ),
            tell_named,
        ),
        Intent(
            "alarms",
            (
                f"(what|which|how many) alarms {_HAVE} [all] {_SET}",
                f"[{_LIST}|what are] (the|my) [active|set] alarms {_SET}",
                f"{_LIST} [active|[current] set] alarms {_SET}",
                f"{_HAVE} [any|an] alarm[s] {_SET}",
                f"(is|are) (the|my) alarm[s] {_SET}",
            ),
            tell_all(TimerKind.ALARM),
        ),
        Intent(
            "alarms at a time",
            (
                f"{_HAVE} [any|an|the|my] alarm[s] {_SET} (for|at|on) {{moment}}",
                f"(what|which|how many) alarms {_HAVE} {_SET} (for|at|on) {{moment}}",
                "(is|are) (the|my|an) alarm[s] set (for|at|on) {moment}",
                f"{_HAVE} [any|an] alarm[s] {_SET} {{day:moment}}",
            ),
            tell_alarms_at,
        ),
        Intent(
            "next alarm",
            (
                "(when|what|what time) is [the|my] [next|first|1st] alarm [set [for]]",
                "[my|the] next alarm",
                "(when|what time) (does|will|do) [the|my] [next] alarm[s] (ring|go off)",
            ),
            tell_next_alarm,
        ),
        Intent(
            "reminders",
            (
                f"(what|which|how many) reminders {_HAVE} {_SET}",
                f"[{_LIST}|what are|what (are|is) [the items] (in|on)|what do i have on] "
                f"[my|the] [current] {_REMINDERS} {_SET} [back] [to me]",
                f"{_HAVE} any reminders {_SET}",
            ),
            tell_all(TimerKind.REMINDER),
        ),
    ),
    tools=(
        Tool(
            "timers_left", "Running timers, alarms and reminders with their time.", tell_everything
        ),
    ),
    follow_ups=(
        FollowUp(
            ("start timer", "start timer in minutes", "change length", "add time"),
            ("what is left",),
            asks="time left",
        ),
        FollowUp(
            ("time left", "named time left"),
            ("[(what|how) about] [on] [the|my] {label} [(timer|one|1)]",),
            asks="named time left",
        ),
    ),
)
