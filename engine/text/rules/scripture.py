"""Chapter and verse behind the name of a book: Genesis 1:1, 1 Corinthians 13:4, Quran 2:255.

Invariant: the colon is a ratio or a time unless a book stands before it.
"""

import re

from engine.text.rules import numbers
from engine.text.rules.context import Context, Reading, Rule, matching, say
from engine.text.tables import section, words

_NUMBERED = section("scripture", "numbered")
_SHORT = section("scripture", "short")
_BOOKS = words("scripture", "books") | frozenset(_NUMBERED)
_PERSONS = words("scripture", "persons")
_ORDINALS = section("scripture", "ordinals")
_PLACE = re.compile(r"\d{1,3}:\d{1,3}\D?.*")
_HALF = re.compile(r"[ap]\.?m", re.IGNORECASE)


def book(core: str, context: Context) -> Reading | None:
    """Matt. 5:3, Gen 1:1; the "1" of 1 Corinthians"""
    if core in _ORDINALS and not context.tail:
        is_book = core.isdecimal() or len(core) > 1
        return say(_ORDINALS[core]) if is_book and context.after in _NUMBERED else None
    name = _SHORT.get(core) or (_NUMBERED.get(core) if core not in _BOOKS - {"Chr"} else None)
    if name is None or context.tail not in ("", ".") or not _PLACE.fullmatch(context.after):
        return None
    return say(name, "")


@matching(r"(\d{1,3}):(\d{1,3})(?:[-–](\d{1,3})(?::(\d{1,3}))?)?((?:,\d{1,3}(?:[-–]\d{1,3})?)*)")
def verse(match: re.Match[str], context: Context) -> Reading | None:
    """Genesis 1:1, John 3:16-18, Acts 2:38,40"""
    name = context.previous
    if name not in _BOOKS and name not in _SHORT:
        return None
    is_time = not context.tail and _HALF.fullmatch(context.after)
    if name in _PERSONS and int(match[2]) < 60 and is_time:
        return None
    said = " ".join(numbers.cardinal(int(part)) for part in match.groups()[:2])
    if match[3]:
        said += f" to {numbers.cardinal(int(match[3]))}"
        said += f" {numbers.cardinal(int(match[4]))}" if match[4] else ""
    more = re.sub("[-–]", " to ", match[5])
    return say(said + re.sub(r"\d+", lambda part: f" {numbers.cardinal(int(part[0]))}", more))


RULES: tuple[Rule, ...] = (book, verse)
