"""Dates with the name of a month inside one token: 15-Jan-2020, Jan-2020, 15JAN2020.

Invariant: a token is a date only if all of its parts can be one.
"""

import re

from engine.text.rules import dates, numbers
from engine.text.rules.context import Context, Reading, Rule, say
from engine.text.tables import words

_NAME = r"(?P<month>[A-Za-z]{3,9})"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d|'?\d\d)"
_LONG_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)"
_WHOLE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_DAY}([-–/.]){_NAME}\2{_YEAR}",
        rf"{_NAME}([-–/.]){_DAY}\2{_YEAR}",
        rf"{_LONG_YEAR}([-–/.]){_NAME}\2{_DAY}",
        rf"{_DAY}{_NAME}{_LONG_YEAR}",
        rf"{_NAME}[-–/.]{_LONG_YEAR}",
        rf"{_DAY}[-/]{_NAME}",
        rf"{_NAME}[-/]{_DAY}",
    )
)
_TIMED = re.compile(r"[AP]\.?M|\d{1,2}(?::\d\d)?[ap]\.?m|\d{1,2}:\d\d(?::\d\d)?", re.IGNORECASE)
_ZONES = words("dates", "zones")


def dashed(core: str, context: Context) -> Reading | None:
    """15-Jan-2020, Jan-15-2020, 2020-Jan-15, 15Jan2020, Jan-2020, 15-Jan"""
    match = next((match for pattern in _WHOLE if (match := pattern.fullmatch(core))), None)
    month = dates.month_number(match["month"]) if match else 0
    if not match or not month:
        return None
    parts = match.groupdict()
    year = (parts.get("year") or "").lstrip("'")
    if not parts.get("day"):
        return say(f"{dates.MONTHS[month - 1]} {numbers.year(int(year))}")
    words = dates.date(month, int(parts["day"]), year)
    return say(words) if words else None


def zone(core: str, context: Context) -> Reading | None:
    """The EST of "3 PM EST.": a zone keeps its letters, and its dot ends the sentence."""
    if core not in _ZONES or not context.past or context.past[0].mark:
        return None
    return say(core) if _TIMED.fullmatch(context.past[0].core) else None


RULES: tuple[Rule, ...] = (dashed, zone)
