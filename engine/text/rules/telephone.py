"""Telephone numbers and other codes in one token, said figure by figure in groups.

Invariant: only common groupings, numbers with a plus, and what the words before call a code are
taken, so that a sum or a range is never read as a telephone number.
"""

import re

from engine.text.rules import groups
from engine.text.rules.context import Context, Reading, Rule, is_counted, say

_AMERICAN = re.compile(r"(?:\+?1[-.])?(?:(?:\(\d{3}\)|\d{3})[-.]?)?(\d{3})[-.](\d{4})", re.ASCII)
_INTERNATIONAL = re.compile(r"\+\d{1,3}(?:[-.]\d{2,5}){2,5}", re.ASCII)
_UNGROUPED = re.compile(r"\+\d{8,15}", re.ASCII)
_TOLL_FREE_WORD = re.compile(r"1-8\d\d-[A-Z]{4,12}")
_SERIAL = re.compile(
    r"\d{2,5}(?:-\d{2,5}){2,4}|\d{1,7}(?:-\d{1,7}){3,6}|(?=.*\d{6})\d+(?:-\d+){2}", re.ASCII
)
_CARD = re.compile(r"(\d{4})(\d{4})(\d{4})(\d{4})", re.ASCII)
_BOOK = re.compile(r"97[89]\d{10}", re.ASCII)
_ZIP = re.compile(r"\d{5}(?:-\d{4})?", re.ASCII)
_AREA_GLUED = re.compile(r"(?:(\+?\d{1,3})\()?(\d{2,5})\)([\d.-]{6,12})", re.ASCII)
_LABELS = {"tel": "telephone", "sms": "S-M-S", "fax": "fax"}
_TYPED = re.compile(r"\d{3,}|\d{3,4}-\d{3,4}", re.ASCII)


def whole(core: str, context: Context) -> Reading | None:
    """555-1234, 1-800-555-1234, +44-20-7946-0958, +14155550132, 123-45-6789, CA 90210, PIN 1234"""
    match = _AMERICAN.fullmatch(core)
    a_range = match and match[1].endswith("0") and match[2].endswith("00")  # 100-2000
    behind_state = len(context.previous) == 2 and context.previous.isupper()
    if (match and not a_range) or (behind_state and _ZIP.fullmatch(core)):
        return _reading(core)
    if any(
        pattern.fullmatch(core) for pattern in (_INTERNATIONAL, _SERIAL, _TOLL_FREE_WORD, _BOOK)
    ):
        return _reading(core)
    if _UNGROUPED.fullmatch(core) and (grouped := groups.international(core)):
        return _reading(grouped)
    card = _CARD.fullmatch(core)
    return _reading(" ".join(card.groups())) if card else None


def area_glued(core: str, context: Context) -> Reading | None:
    """(415)555-0132, +1(415)555-0132, (415)5550132; the first bracket may have been taken off."""
    match = _AREA_GLUED.fullmatch(core)
    if not match or not (match[1] or "(" in context.opened):
        return None
    country, area, rest = match.groups()
    if re.fullmatch(r"\d{7}", rest) and re.fullmatch(r"[2-9]\d\d", area):  # in North America
        rest = f"{rest[:3]}-{rest[3:]}"
    return _reading(f"{country or ''} {area} {rest}".strip())


def label(core: str, context: Context) -> Reading | None:
    """The scheme of tel:+14155550132"""
    word = _LABELS.get(core.lower()) if core.islower() or core.isupper() else None
    if not word or context.tail != ":" or context.after[:1] not in tuple("+(0123456789"):
        return None
    return say(word, "")


def typed(core: str, context: Context) -> Reading | None:
    """The figures of "PIN 1234", "dial 112"; but "call 100 people"."""
    if not _TYPED.fullmatch(core) or not groups.cued(context):
        return None
    is_count = context.previous == "call" and not context.tail and is_counted(context.after)
    return None if is_count else _reading(core)


def postal(core: str, context: Context) -> Reading | None:
    """12 rue de Rivoli, 75001 Paris"""
    behind_street = bool(context.past) and context.past[0].mark == ","
    if not _ZIP.fullmatch(core) or not behind_street or context.tail:
        return None
    return _reading(core) if context.after.istitle() else None


def _reading(text: str) -> Reading:
    return Reading(tuple(groups.words_of(text)))


RULES: tuple[Rule, ...] = (whole, area_glued, label, typed, postal)
