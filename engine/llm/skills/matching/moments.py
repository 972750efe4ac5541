"""Times of day as people say them: "7 am", "half past 7 tomorrow", "8 tonight", "noon".

Invariant: takes canonical text and gives a moment that is still to come, or None for anything that
is not wholly a time of day. Without "am" or "pm" the next such time is meant; of tomorrow's, one
between 7 in the morning and 6 in the evening.
"""

import re
from datetime import datetime, timedelta

_WHEN = re.compile(
    r"^(?P<tomorrow>tomorrow )?(?:(?P<part>in the morning|in the afternoon|in the evening|at night|"
    r"this morning|this afternoon|this evening|tonight) )?(?:at )?(?P<time>.+?)"
    r"(?: (?P<part_after>in the morning|in the afternoon|in the evening|at night|"
    r"this morning|this afternoon|this evening|tonight))?(?P<tomorrow_after> tomorrow)?$"
)
_FACE = re.compile(
    r"^(?P<hour>\d{1,2})(?:[: ](?P<minute>\d{2}))?(?: o'?clock)?(?: (?P<half>[ap]m))?$"
)
_PAST = re.compile(
    r"^(?P<share>a quarter|quarter|half|\d{1,2}(?: minutes)?) (?P<side>past|to|after|before) "
    r"(?P<hour>\d{1,2})(?: o'?clock)?(?: (?P<half>[ap]m))?$"
)
_SHARES = {"a quarter": 15, "quarter": 15, "half": 30}
_NAMED = {"noon": 12 * 60, "midday": 12 * 60, "midnight": 0}
_MORNING = 7  # o'clock; tomorrow's hours without "am" are not before it
_DAY = timedelta(days=1)


def parse_moment(text: str, now: datetime) -> datetime | None:
    """The next moment that the text names; `now` is the person's wall clock."""
    match = _WHEN.match(text.strip())
    if match is None or (match["part"] and match["part_after"]):
        return None
    tomorrow = bool(match["tomorrow"] or match["tomorrow_after"])
    part = match["part"] or match["part_after"] or ""
    minutes = _minutes(match["time"], part, now, tomorrow=tomorrow)
    if minutes is None:
        return None
    moment = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(minutes=minutes)
    return moment + _DAY if tomorrow or moment <= now else moment


def clock_face(hour: int, minute: int) -> str:
    """ "7:05 AM" """
    return f"{hour % 12 or 12}:{minute:02d} {'AM' if hour < 12 else 'PM'}"


def _minutes(time: str, part: str, now: datetime, *, tomorrow: bool) -> int | None:
    """Minutes since midnight."""
    if time in _NAMED:
        return _NAMED[time]
    face = _face(time)
    if face is None:
        return None
    minutes, half = face
    if not half and minutes < 13 * 60:
        half = _half(minutes % (12 * 60), part, now, tomorrow=tomorrow)
    if half:
        minutes = minutes % (12 * 60) + (12 * 60 if half == "pm" else 0)
    return minutes if 0 <= minutes < 24 * 60 else None


def _face(time: str) -> tuple[int, str] | None:
    """Minutes since midnight as written, and "am", "pm" or nothing."""
    if match := _FACE.match(time):
        hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"] or ""
        allowed = hour <= (12 if half else 23) and minute < 60
        return (hour * 60 + minute, half) if allowed else None
    if match := _PAST.match(time):
        share = match["share"].removesuffix(" minutes")
        offset = _SHARES.get(share) or int(share)
        hour = int(match["hour"])
        if not 1 <= hour <= 12 or not 0 < offset < 60:
            return None
        sign = 1 if match["side"] in {"past", "after"} else -1
        return (hour * 60 + sign * offset) % (12 * 60), match["half"] or ""
    return None


def _half(minutes: int, part: str, now: datetime, *, tomorrow: bool) -> str:
    """Which half of the day is meant, when it was not said."""
    if "morning" in part:
        return "am"
    if part:
        return "pm"
    if tomorrow:
        return "am" if minutes >= _MORNING * 60 else "pm"
    passed = now.hour * 60 + now.minute
    return "pm" if minutes <= passed < minutes + 12 * 60 else "am"
