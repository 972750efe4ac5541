"""Reads one mark (engine.text.marks) at the beginning of a text that may not be complete.

Invariant: it asks for more text only while what is there can still become a known mark.
"""

import re
from dataclasses import dataclass
from typing import Final

from engine.text.marks import ANSWERS, BARRED, OTHERS, OWN, PLAIN, SQUARE, THINKS, Kind

OPENS: Final = "<◁["  # what a mark begins with


@dataclass(frozen=True)
class Mark:
    """`text` is all of it, `name` as in the tables. `detail`: it says more than its name."""

    kind: Kind
    name: str
    text: str
    closing: bool = False
    detail: bool = False


class More:
    """Only more text can tell."""


MORE = More()

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
_BEGIN = re.compile(r"(?:begin|start)_(?:of_)?(?P<after>.+)|(?P<before>.+)_(?:begin|start)")
_END = re.compile(r"end_(?:of_)?(?P<after>.+)|(?P<before>.+)_end")
_ROLES = THINKS | ANSWERS | OWN | OTHERS
_WORD = re.compile(r"\s*(?P<name>[A-Za-z]+)(?P<rest>.*)", re.DOTALL)
_RECIPIENT = re.compile(r"[ \t]+to=(?P<tool>[\w.-]+)(?=[^\w.-])")


def read(text: str) -> Mark | More | None:
    """The mark `text` begins with; None = it begins with none."""
    return _square(text) if text.startswith("[") else _angled(text)


def _square(text: str) -> Mark | More | None:
    match = _SQUARE.match(text)
    if match is None:
        return None
    name = match["name"] if match["name"] in SQUARE else match["name"].lower()
    if match["close"]:
        kind = SQUARE.get(name)
        return kind and Mark(kind, name.lower(), match[0], closing=bool(match["slash"]))
    begun = any(each.startswith((match["name"], name)) for each in SQUARE)
    return MORE if match.end() == len(text) and begun else None


def _angled(text: str) -> Mark | More | None:
    match = _ANGLED.match(text)
    if match is None:
        return None
    if match["close"]:
        return _closed(match)
    return MORE if match.end() == len(text) and _may_become_mark(match) else None


def _closed(match: re.Match[str]) -> Mark | None:
    barred, detail = bool(match["bar"]), match["detail"] or ""
    name = _folded(match["name"])
    closing = bool(match["slash"] or match["inner"])
    if not name or not _DETAIL.fullmatch(detail) or (barred and detail):
        return None
    if barred or match["tail"]:
        base, ends = _base(name)
        kind = BARRED.get(base, Kind.LONE if barred else None)
        only_tail = not barred
        return kind and Mark(kind, base, match[0], closing or ends or only_tail)
    if name in _DETAILED and not detail.strip(" /") and not closing:
        return None  # people write of functions
    kind = PLAIN.get(name)
    if kind is None or (detail.rstrip().endswith("/") and kind is not Kind.CALL):
        return kind and Mark(Kind.LONE, name, match[0])
    return Mark(kind, name, match[0], closing, detail=bool(detail.strip()))


def _base(name: str) -> tuple[str, bool]:
    """The name without what says that it begins or ends, and whether it ends."""
    if name in BARRED:
        return name, False
    begin, end = _BEGIN.fullmatch(name), _END.fullmatch(name)
    found = begin or end
    return (found["after"] or found["before"], begin is None) if found else (name, False)


def _may_become_mark(match: re.Match[str]) -> bool:
    name = _folded(match["name"])
    if match["bar"]:
        return not match["detail"]
    if match["tail"] or match["detail"]:
        known = name in BARRED if match["tail"] else name in PLAIN
        return known and bool(_DETAIL_BEGUN.fullmatch(match["detail"] or ""))
    return any(each.startswith(name) for each in (*PLAIN, *BARRED))


def _folded(name: str) -> str:
    return name.lower().replace("-", "_").replace("▁", "_")


@dataclass(frozen=True)
class Heading:
    """Whose turn, or what kind of text, begins: a word of `engine.text.marks`, empty = it does not
    say. `tool`: the text is for it. `text` is all of the heading.
    """

    name: str
    tool: str
    text: str


def heading(text: str, *, final: bool) -> Heading | More:
    """What stands behind a mark of Kind.ROLE or Kind.CHANNEL. `final`: no more text comes."""
    match = _WORD.match(text)
    if match is None:
        return MORE if not text.strip() and not final else Heading("", "", "")
    name, rest = match["name"].lower(), match["rest"]
    if not rest and not final and len(name) <= max(map(len, _ROLES)):
        return MORE
    if name not in _ROLES:
        return Heading("", "", "")
    recipient = _RECIPIENT.match(rest)
    if recipient is None and not final and re.fullmatch(r"[ \t]+(?:t|to|to=[\w.-]*)?", rest):
        return MORE
    said = text[: match.start("rest")] + (recipient[0] if recipient else "")
    if text[len(said) :].startswith("\n"):
        said += "\n"
    return Heading(name, recipient["tool"] if recipient else "", said)
