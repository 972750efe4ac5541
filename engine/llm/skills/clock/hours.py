"""What time it is here, was, and will be.

Invariant: the time comes from the occasion's clock.
"""

from datetime import timedelta

from engine.llm.skills.clock.days import MAX_DAYS
from engine.llm.skills.clock.moments import clock_face, moment_phrase, parse_moment
from engine.llm.skills.matching.intent import Answer, Occasion, Slots
from engine.llm.skills.matching.quantities import duration_phrase, parse_duration


def tell_time(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"It's {clock_face(occasion.now().hour, occasion.now().minute)}.")


def tell_later_time(slots: Slots, occasion: Occasion) -> Answer | None:
    """What time it will be after a duration."""
    seconds = _seconds(slots)
    if seconds is None:
        return None
    then = occasion.now() + timedelta(seconds=seconds)
    return Answer(f"It will be {clock_face(then.hour, then.minute)}.")


def tell_earlier_time(slots: Slots, occasion: Occasion) -> Answer | None:
    seconds = _seconds(slots)
    if seconds is None:
        return None
    then = occasion.now() - timedelta(seconds=seconds)
    return Answer(f"It was {clock_face(then.hour, then.minute)}.")


def tell_time_until(slots: Slots, occasion: Occasion) -> Answer | None:
    """How long it is until a time of day, to the minute."""
    now = occasion.now()
    said = slots["moment"].strip()
    moment = parse_moment("midnight" if said == "tomorrow" else said, now)
    if moment is None:
        return None
    minutes = max(1, round((moment - now).total_seconds() / 60))
    return Answer(f"{duration_phrase(60 * minutes)} until {moment_phrase(moment, now)}.")


def _seconds(slots: Slots) -> float | None:
    seconds = parse_duration(slots["duration"])
    return None if seconds is None or seconds > MAX_DAYS * 86400 else seconds
