"""Telephone numbers, said digit by digit in groups.

Invariant: only the usual American groupings and international numbers with a plus are taken, so
that a sum or a range is never read as a telephone number.
"""

import re

from engine.text import numbers
from engine.text.context import Context, Reading, Rule

_AMERICAN = re.compile(r"(?:(\+?1)[-.])?(?:(\(\d{3}\)|\d{3})[-.]?)?(\d{3})[-.](\d{4})", re.ASCII)
_INTERNATIONAL = re.compile(r"(\+\d{1,3})((?:[-.]\d{2,5}){2,5})", re.ASCII)
_COUNTRY = re.compile(r"\+\d{1,3}", re.ASCII)
_TOLL_FREE_WORD = re.compile(r"1-(8\d\d)-([A-Z]{4,12})")
_SERIAL = re.compile(
    r"(?!\d{4}-\d\d-\d\d$)\d{2,5}(?:-\d{2,5}){2,4}|\d{1,7}(?:-\d{1,7}){3,6}", re.ASCII
)
_ZIP = re.compile(r"\d{5}(?:-\d{4})?", re.ASCII)


def whole(core: str, context: Context) -> Reading | None:
    """555-1234, 555-123-4567, 1-800-555-1234, +44-20-7946-0958, 123-45-6789"""
    match = _AMERICAN.fullmatch(core)
    if match and not (match[3].endswith("0") and match[4].endswith("00")):  # 100-2000 is a range
        return _groups([group for group in match.groups() if group])
    match = _INTERNATIONAL.fullmatch(core)
    if match:
        return _groups([match[1], *re.findall(r"\d+", match[2])])
    behind_state = len(context.previous) == 2 and context.previous.isupper()
    if _SERIAL.fullmatch(core) or (behind_state and _ZIP.fullmatch(core)):
        return _groups(core.split("-"))
    match = _TOLL_FREE_WORD.fullmatch(core)
    if match:
        return Reading((*_spoken("1"), *_spoken(match[1]), match[2]))
    return None


def begun(core: str, context: Context) -> Reading | None:
    """The first group of a number written with spaces: +1 555 123 4567, (555) 123-4567"""
    if _COUNTRY.fullmatch(core) and re.match(r"\d{2,5}", context.after):
        return Reading((*_spoken(core)[:-1], _spoken(core)[-1] + ","), phone=True)
    area = re.fullmatch(r"\d{3}", core) and context.opened.endswith("(")
    if area and re.fullmatch(r"\d{3}([-. ]\d{4})?", context.after):
        words = _spoken(core)
        return Reading((*words[:-1], words[-1] + ","), mark="", phone=True)
    return None


def continued(core: str, context: Context) -> Reading | None:
    """The later groups."""
    if not context.phone or not re.fullmatch(r"\d{2,5}(?:[-.]\d{2,5}){0,3}", core, re.ASCII):
        return None
    said = _groups(re.findall(r"\d+", core))
    more = not context.tail and re.match(r"\d", context.after)
    if not more:
        return said
    return Reading((*said.words[:-1], said.words[-1] + ","), phone=True)


def _groups(groups: list[str]) -> Reading:
    words: list[str] = []
    for group in groups:
        words += _spoken(group)
        words[-1] += ","
    words[-1] = words[-1][:-1]
    return Reading(tuple(words))


def _spoken(group: str) -> list[str]:
    if re.fullmatch(r"[89]00", group):
        return numbers.cardinal(int(group)).split()
    plus = ["plus"] if group.startswith("+") else []
    return plus + numbers.digits(group).split()


RULES: tuple[Rule, ...] = (continued, whole, begun)
