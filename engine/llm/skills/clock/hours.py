"""What time it is here, was, and will be.

Invariant: the time comes from the occasion's clock.
"""

from datetime import timedelta

from engine.llm.skills.clock.days import MAX_DAYS
from engine.llm.skills.clock.moments import clock_face, moment_phrase, parse_moment
from engine.llm.skills.matching.intent import Occasion, Slots
from engine.llm.skills.matching.quantities import duration, duration_phrase


def time_now(_slots: Slots, occasion: Occasion) -> Slots:
    return {"time": clock_face(occasion.now().hour, occasion.now().minute)}


def time_away(slots: Slots, occasion: Occasion) -> Slots | None:
    """What time it is a duration after now, or before it, as `side` says."""
    seconds = duration(slots["duration"])
    if seconds > MAX_DAYS * 86400:
        return None
    then = occasion.now() + timedelta(seconds=seconds if slots["side"] == "after" else -seconds)
    return {"time": clock_face(then.hour, then.minute)}


def time_until(slots: Slots, occasion: Occasion) -> Slots | None:
    """How long it is until a time of day, to the minute."""
    now = occasion.now()
    said = slots["moment"].strip()
    moment = parse_moment("midnight" if said == "tomorrow" else said, now)
    if moment is None:
        return None
    minutes = max(1, round((moment - now).total_seconds() / 60))
    return {"length": duration_phrase(60 * minutes), "when": moment_phrase(moment, now)}
