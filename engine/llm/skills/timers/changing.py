"""Change running timers: cancel, pause, resume, more time, less time, restart.

Invariant: when it is not clear which timer is meant, nothing is changed and the user is asked.
"""

import re
from collections.abc import Callable

from engine.llm.base import Action
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import duration, duration_phrase, parse_duration
from engine.llm.skills.timers.choosing import (
    ALL,
    meant,
    name,
    named,
    newest_of,
    numbers,
    running,
    the_timers,
)
from engine.llm.skills.timers.setting import MAX_TIMER_S, TOO_LONG, another_length
from engine.messages.timers import CancelTimers, ExtendTimers, PauseTimers

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
