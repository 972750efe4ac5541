"""Reads one mark (engine.text.marks) at the beginning of a text that may be incomplete.

Invariant: it asks for more text only while the text can still become a known mark.
"""

import re
from dataclasses import dataclass

from engine.text.marks import ANSWERS, BARRED, OTHERS, OWN, PLAIN, SQUARE, THINKS, Kind


@dataclass(frozen=True)
class Heading:
    """The word behind a mark of Kind.ROLE or Kind.CHANNEL: whose turn, or what kind of text,
    begins. Empty = unknown. `tool`: the text is for that tool. `size` counts the characters.
    """

    name: str = ""
    tool: str = ""
    size: int = 0


@dataclass(frozen=True)
class Mark:
    """`text` is the complete mark, `name` as in the tables. `detail`: it has attributes."""

    kind: Kind
    name: str
    text: str
    closing: bool = False
    detail: bool = False
    heading: Heading = Heading()


class MoreNeeded(Exception):
    """The result depends on more text."""


_ANGLED = re.compile(
    r"[<◁] ?(?P<slash>/?) ?(?P<bar>[|\uff5c]?)(?P<inner>(?<=[|\uff5c])/|)"
    r"(?P<name>[^\s<>◁▷|\uff5c/=`\[\]{}\"']{0,60})"
    r"(?P<detail>[\s=/][^<>◁▷\n]{0,200})?(?P<tail>[|\uff5c]?)(?P<close>[>▷]?)"
)
_SQUARE = re.compile(r"\[(?P<slash>/?)(?P<name>[A-Za-z_]{0,20})(?P<close>\]?)")
_DETAIL = re.compile(r"\s*/?|\s*=.*|\s+[\w:.-]+\s*=.*")
_DETAIL_BEGUN = re.compile(r"\s*/?|\s*=.*|\s+[\w:.-]*(?:\s*=.*)?")
# Their detail is the name of the tool.
_DETAILED = frozenset(("function", "invoke"))
_BEGIN_OR_END = re.compile(
    r"(?:begin|start|(?P<end>end))_(?:of_)?(?P<after>.+)|(?P<before>.+)_(?:begin|start|(?P<ended>end))"
)
_WORD = re.compile(r"\s*(?P<name>[A-Za-z]+)(?:[ \t]+to=(?P<tool>[\w.-]+)(?=[^\w.-]))?\n?")
_WORD_BEGUN = re.compile(r"\s*(?P<name>[A-Za-z]*)(?:[ \t]+(?:t|to|to=[\w.-]*)?)?")
_WORDS = THINKS | ANSWERS | OWN | OTHERS


def read(text: str, *, final: bool) -> Mark | None:
    """The mark `text` begins with, None if there is none. `final`: no more text comes; otherwise
    raises MoreNeeded.
    """
    match = _SQUARE.match(text) or _ANGLED.match(text)
    if match is None:
        return None
    square = text.startswith("[")
    if not match["close"]:
        may_be = _may_become_square if square else _may_become_angled
        if match.end() < len(text) or not may_be(match):
            return None
        if not final:
            raise MoreNeeded
        return Mark(Kind.LONE, "", text) if not square and match["bar"] else None
    mark = _square(match) if square else _angled(match)
    if mark is None or mark.closing or mark.kind not in (Kind.ROLE, Kind.CHANNEL):
        return mark
    found = heading(text[len(mark.text) :], final=final)
    return Mark(mark.kind, mark.name, text[: len(mark.text) + found.size], heading=found)


def heading(text: str, *, final: bool) -> Heading:
    """The heading `text` begins with. Raises MoreNeeded."""
    begun = _WORD_BEGUN.fullmatch(text)
    if begun and not final and any(word.startswith(begun["name"].lower()) for word in _WORDS):
        raise MoreNeeded
    match = _WORD.match(text)
    if match is None or match["name"].lower() not in _WORDS:
        return Heading()
    return Heading(match["name"].lower(), match["tool"] or "", match.end())


def _square(match: re.Match[str]) -> Mark | None:
    """Thoughts in any case, all others in capitals."""
    kind = SQUARE.get(match["name"]) or SQUARE.get(match["name"].lower())
    return kind and Mark(kind, match["name"].lower(), match[0], closing=bool(match["slash"]))


def _may_become_square(match: re.Match[str]) -> bool:
    return any(name.startswith((match["name"], match["name"].lower())) for name in SQUARE)


def _angled(match: re.Match[str]) -> Mark | None:
    barred, detail = bool(match["bar"]), match["detail"] or ""
    name = _folded(match["name"])
    closing = bool(match["slash"] or match["inner"])
    if not name or not _DETAIL.fullmatch(detail) or (barred and detail):
        return None
    if barred or match["tail"]:
        found = None if name in BARRED else _BEGIN_OR_END.fullmatch(name)
        ends = bool(found and (found["end"] or found["ended"]))
        name = (found["after"] or found["before"]) if found else name
        kind = BARRED.get(name, Kind.LONE if barred else None)
        return kind and Mark(kind, name, match[0], closing or ends or not barred)
    if name in _DETAILED and not detail.strip(" /") and not closing:
        return None  # people write of functions
    kind = PLAIN.get(name)
    if kind and kind is not Kind.CALL and detail.rstrip().endswith("/"):
        return Mark(Kind.LONE, name, match[0])
    return kind and Mark(kind, name, match[0], closing, detail=bool(detail.strip()))


def _may_become_angled(match: re.Match[str]) -> bool:
    name = _folded(match["name"])
    if match["bar"]:
        return not match["detail"]
    if match["tail"] or match["detail"]:
        known = name in BARRED if match["tail"] else name in PLAIN
        return known and bool(_DETAIL_BEGUN.fullmatch(match["detail"] or ""))
    return any(each.startswith(name) for each in (*PLAIN, *BARRED))


def _folded(name: str) -> str:
    return name.lower().replace("-", "_").replace("▁", "_")
