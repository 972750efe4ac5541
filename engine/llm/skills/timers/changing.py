"""Set timers and change them: cancel, pause, resume, more or less time, restart; dismiss or snooze
one that rings.

Invariant: a skill starts a timer by an action and never waits. When it is not clear which timer is
meant, nothing is changed and the user is asked. A sentence such as "stop" applies to a timer only
while one rings.
"""

import re
from collections.abc import Callable
from typing import Final

from engine.llm.base import Action, AssistantState, StartTimer, Timer
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import (
    duration,
    duration_phrase,
    enumeration,
    parse_duration,
    parse_number,
)
from engine.llm.skills.matching.repertoire import wished
from engine.llm.skills.timers.choosing import (
    ALL,
    clean_label,
    is_label,
    meant,
    name,
    named,
    newest_of,
    numbers,
    running,
    the_timers,
)
from engine.messages.timers import SNOOZE_S, CancelTimers, ExtendTimers, PauseTimers

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
        for label, length in (parts, parts[::-1]):
            label = label.removeprefix("for ")
            if is_label(label) and parse_duration(length) is not None:
                return start_timer({"label": label, "duration": length}, context)
    return None


def start_several(slots: Slots, context: SkillContext) -> Answer | None:
    """Set a timer for each duration of "5 and 10 minutes", with the last unit for all."""
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


Respond = Callable[[Slots, SkillContext], Answer | None]


def _doing(done: str, action: Callable[[tuple[int, ...]], Action]) -> Respond:
    """Return a responder that changes the timers that are meant."""

    def respond(slots: Slots, context: SkillContext) -> Answer:
        timers = meant(slots, context)
        if isinstance(timers, Answer):
            return timers
        verb = "is" if len(timers) == 1 else "are"
        return Answer(f"{the_timers(timers)} {verb} {done}.", (action(numbers(timers)),))

    return respond


cancel = _doing("cancelled", CancelTimers)


def cancel_named(slots: Slots, context: SkillContext) -> Answer | None:
    """Cancel a timer without the word "timer": only a running one of that name."""
    is_one = any(timer.label == slots["label"] for timer in running(context))
    return cancel(slots, context) if is_one else None


_pause = _doing("paused", PauseTimers)


def pause(slots: Slots, context: SkillContext) -> Answer | None:
    """Pause the timer that is meant; "for five minutes" would need another timer."""
    return None if parse_duration(slots.get("label", "")) else _pause(slots, context)


_resume = _doing("running again", lambda numbers: PauseTimers(numbers, on=False))


def resume(slots: Slots, context: SkillContext) -> Answer | None:
    """Resume the named timer, or the paused one if none is named."""
    paused = [timer for timer in running(context) if timer.paused]
    if not slots.get("label") and len(paused) == 1:
        go_on = PauseTimers(numbers(paused), on=False)
        return Answer(f"The {name(paused[0])} is running again.", (go_on,))
    return _resume(slots, context)


def lengthen(slots: Slots, context: SkillContext) -> Answer:
    """Give timers more time, or less as `way` says."""
    seconds = duration(slots["duration"].replace(" more ", " ").removesuffix(" more"))
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    timers = meant(slots, context)
    if isinstance(timers, Answer):
        return timers
    change = -seconds if slots.get("way") == "less" else seconds
    if len(timers) == 1:
        left = duration_phrase(max(0.0, timers[0].remaining_s + change))
        said = f"{the_timers(timers)} has {left} left now."
    else:
        way = slots.get("way", "more")
        said = f"{the_timers(timers)} have {duration_phrase(seconds)} {way}."
    return Answer(said, (ExtendTimers(numbers(timers), change),))


def lengthen_named(slots: Slots, context: SkillContext) -> Answer | None:
    """Give more time without the word "timer": only to a running timer of that name."""
    timers = running(context)
    known = named(slots["label"], timers) if "label" in slots else timers
    return lengthen(slots, context) if known else None


def add_more(slots: Slots, context: SkillContext) -> Answer | None:
    """Handle "one more minute for the pasta"; without "more" it would be another timer."""
    if " more " not in slots["extra"]:
        return None
    return lengthen_named({**slots, "duration": slots["extra"]}, context)


def give(slots: Slots, context: SkillContext) -> Answer | None:
    """Handle "give the pasta 2 more minutes": a name followed by a duration."""
    words = slots["gift"].split()
    for at in range(1, len(words)):
        label = " ".join(words[:at]).removesuffix(" timer")
        length = re.sub(r"^another (?=[a-z])", "1 ", " ".join(words[at:]))
        length = length.removeprefix("another ").replace(" more ", " ")
        if parse_duration(length) and named(label, running(context)):
            return lengthen({"label": label, "duration": length}, context)
    return None


def in_its_unit(before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    """Handle "take 5 off": in the unit of the timer's length, and from that timer."""
    timers = running(context)
    known = named(before.get("label", ""), timers) or tuple(t for t in timers if not t.label)
    if not known:
        return None
    newest = newest_of(known)
    length = another_length(before, now, context)
    return length and {**length, "label": newest.label or "last"}


def which_one(before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    """Return the slots of the question, with the timer from the answer; None when it names none."""
    label = now.get("label", ALL)
    return {**before, "label": label} if named(label, running(context)) else None


def restart(slots: Slots, context: SkillContext) -> Answer | None:
    """Start timers from the beginning."""
    timers = meant(slots, context)
    if isinstance(timers, Answer):
        return timers
    known = tuple(timer for timer in timers if timer.seconds)
    actions = tuple(ExtendTimers((t.number,), t.seconds - t.remaining_s) for t in known)
    go_on = PauseTimers(numbers(known), on=False)
    if not known:
        return None
    how = "start again from the beginning"
    if len(known) == 1:
        how = f"starts again with {duration_phrase(known[0].seconds)}"
    return Answer(f"{the_timers(known)} {how}.", (*actions, go_on))


_NAMES: Final = frozenset(("dismiss", "snooze", "snooze a while"))


def dismiss(_slots: Slots, context: SkillContext) -> Answer | None:
    ringing = _ringing(context)
    if not ringing:
        return None
    which = f"the {name(ringing[0])} is" if len(ringing) == 1 else "they are"
    return Answer(f"All right, {which} off.", (CancelTimers(numbers(ringing)),))


def snooze(slots: Slots, context: SkillContext) -> Answer | None:
    """Ring again after the requested time, "five more minutes", or after the usual one."""
    said = slots.get("duration") or slots.get("extra", "").replace(" more ", " ")
    seconds = parse_duration(said) if said else SNOOZE_S
    if seconds is None or not (ringing := numbers(_ringing(context))):
        return None
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    return Answer(f"Again in {duration_phrase(seconds)}.", (ExtendTimers(ringing, seconds),))


def ring_wish(said: str, state: AssistantState) -> CancelTimers | ExtendTimers | None:
    """Return the request for a ringing timer; None if none rings, or for other words."""
    if not any(timer.rings for timer in state.timers):
        return None
    asked = wished(said, _NAMES, state)
    return next((each for each in asked if isinstance(each, CancelTimers | ExtendTimers)), None)


def _ringing(context: SkillContext) -> tuple[Timer, ...]:
    return tuple(timer for timer in context.state().timers if timer.rings)
