"""Setting timers.

Invariant: a skill starts one by an action and never waits.
"""

import re

from engine.llm.base import StartTimer
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import (
    duration_phrase,
    enumeration,
    parse_duration,
    parse_number,
)
from engine.llm.skills.timers.choosing import clean_label, is_label, named, newest_of, running
from engine.messages.timers import CancelTimers, ExtendTimers

MAX_TIMER_S = 7 * 86400.0  # a week; for longer times people need a calendar
TOO_LONG = "That is too long for me. I can count for up to a week."

_ENUMERATED = re.compile(r" and |, ?")
# After "call it".
_SAYINGS = frozenset(("even", "quits", "day", "night", "square", "off", "done", "good"))
_UNIT = re.compile(r"(\w+)$")


def start_timer(slots: Slots, _context: SkillContext) -> Answer | None:
    label = clean_label(slots.get("label", ""))
    if re.match(r"^0 \w+$", slots["duration"].strip()):
        return Answer("That would be over already.")
    seconds = parse_duration(slots["duration"])
    if seconds is None:
        return None
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    length = duration_phrase(seconds)
    name = f"{label} timer".strip()
    done = name if label else f"timer for {length}"
    timer = StartTimer(seconds, label, f"Your {done} is done.")
    return Answer(f"{name.capitalize()} set for {length}.", (timer,))


def start_named(slots: Slots, context: SkillContext) -> Answer | None:
    """Set a timer with a name beside the duration: "3 minute tea", "the oven 25 minutes"."""
    words = slots["timed"].split()
    for at in range(1, len(words)):
        parts = " ".join(words[:at]), " ".join(words[at:])
        for label, duration in (parts, parts[::-1]):
            label = label.removeprefix("for ")
            if is_label(label) and parse_duration(duration) is not None:
                return start_timer({"label": label, "duration": duration}, context)
    return None


def start_several(slots: Slots, context: SkillContext) -> Answer | None:
    """Set a timer for each duration of "5 and 10 minutes"; the last unit counts for those without
    one.
    """
    said = _ENUMERATED.split(slots["durations"].strip())
    unit = _UNIT.search(said[-1])
    lengths = [f"{each} {unit[1]}" if unit and each.isdigit() else each for each in said]
    started = [start_timer({"duration": each}, context) for each in lengths]
    timers = tuple(action for each in started if each is not None for action in each.actions)
    if len(said) < 2 or len(timers) < len(said):
        return None
    return Answer(f"Timers set for {enumeration(lengths)}.", timers)


def name_timer(slots: Slots, context: SkillContext) -> Answer | None:
    """Give the newest timer another name."""
    timers, label = running(context), clean_label(slots["label"])
    if not timers or not label or label in _SAYINGS:
        return None
    newest = newest_of(timers)
    answer = start_timer({"label": label, "duration": f"{newest.remaining_s} seconds"}, context)
    cancelled = CancelTimers((newest.number,))
    return answer and Answer(f"It's the {label} timer now.", (cancelled, *answer.actions))


def change_length(slots: Slots, context: SkillContext) -> Answer | None:
    """Change the newest timer of that name just after it was set: "make it 12"."""
    seconds = parse_duration(slots["duration"])
    timers = running(context)
    label = clean_label(slots.get("label", ""))
    found = named(label, timers) if label else tuple(t for t in timers if not t.label)
    if seconds is None or not found:
        return None
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    newest = newest_of(found)
    change = seconds - newest.remaining_s
    return Answer(f"Now {duration_phrase(seconds)}.", (ExtendTimers((newest.number,), change),))


def in_minutes(before: Slots, now: Slots, _context: SkillContext) -> Slots:
    """Read a bare number, after the question for how long, as minutes."""
    duration = now["duration"]
    unit = " minutes" if parse_number(duration) is not None else ""
    return {**before, "duration": f"{duration}{unit}"}


def start_in_minutes(slots: Slots, context: SkillContext) -> Answer | None:
    """Set a timer for "ten" minutes, as after the question for how long."""
    counted = in_minutes({}, slots, context)
    return start_timer(counted, context) if counted != slots else None


def another_length(before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    """Return a new duration, in the unit of the previous one if it names none ("make it 12")."""
    duration, previous = now["duration"], in_minutes({}, before, context)["duration"]
    if parse_number(duration) is not None and (unit := _UNIT.search(previous)):
        duration = f"{duration} {unit[1]}"
    return {"duration": duration, "label": now.get("label", before.get("label", ""))}


def another_timer(before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    changed = another_length(before, now, context)
    return changed and {**changed, "label": now.get("label", "")}
