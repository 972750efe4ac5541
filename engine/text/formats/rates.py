"""So much per something: 8 hours/day, 3/week, $5 / day, 100 km / h.

Invariant: a slash is "per" only before a span of time, a person or a unit, and behind an amount.
"""

import re

from engine.text.rules import numbers, units
from engine.text.rules.context import Context, Reading, Rule, is_counted, say
from engine.text.rules.numbers import NUMBER
from engine.text.tables import words
from engine.text.unit_table import SIGNS

_NAMES = words("rates", "each")
_COUNT = re.compile(rf"({NUMBER})((?:/[a-z]+)+)")
_COUNTED = re.compile(r"([A-Za-z]+)((?:/[a-z]+)+)")
_BEHIND = re.compile(r"(?:/[a-z]+)+")


def glued(core: str, context: Context) -> Reading | None:
    """3/week, hours/day, /mo"""
    match = _COUNT.fullmatch(core)
    if match and (per := _per(match[2])):
        return say(f"{numbers.number(match[1])} {per}")
    match = _COUNTED.fullmatch(core)
    measured = match and match[1] in SIGNS and match[1] != "miles" and context.after_amount
    if match and not measured and (per := _per(match[2])):
        often = match[1].lower() in ("once", "twice")
        counted = often or context.after_amount or is_counted(match[1])
        return say(f"{match[1]} {per}") if counted else None
    if _BEHIND.fullmatch(core) and (per := _per(core)) and _follows_amount(context):
        return say(per)
    return None


def spaced(core: str, context: Context) -> Reading | None:
    """The slash of "$5 / day" and "km / h", and the unit behind it."""
    before = context.previous
    if core == "/" and (_follows_amount(context) or before in SIGNS):
        after = context.after
        unit = before in SIGNS and after in SIGNS
        return say("per") if unit or after.lower() in _NAMES else None
    if before == "/" and core in SIGNS and context.before_previous in SIGNS:
        return say(units.one(core))
    return None


def _follows_amount(context: Context) -> bool:
    """Behind a figure, an amount of money or something counted."""
    before = context.previous
    return bool(re.search(r"\d", before)) or context.after_amount or is_counted(before)


def _per(text: str) -> str:
    """ "per user per month" for "/user/month", "" if one of them is not something to count by."""
    names = text.strip("/").split("/")
    if not all(name in _NAMES for name in names):
        return ""
    return " ".join(f"per {units.one(name)}" for name in names)


RULES: tuple[Rule, ...] = (glued, spaced)
