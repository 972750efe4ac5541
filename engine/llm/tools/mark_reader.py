"""Read one mark (engine.text.llm_markers) at the beginning of a text that may be incomplete.

Invariant: more text is requested only while the text can still become a known mark.
"""

import re
from dataclasses import dataclass, replace

from engine.text.llm_markers import ANSWERS, BARRED, OTHERS, OWN, PLAIN, SQUARE, THINKS, Kind


@dataclass(frozen=True)
class Heading:
    """The word behind a mark of Kind.ROLE or Kind.CHANNEL, which names the speaker or the kind of
    text; empty = unknown. `tool`: the text is for that tool. `size` counts the characters.
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


_MARK = re.compile(
    r"(?P<open>[<◁\[]) ?(?P<slash>/?) ?(?P<bar>[|\uff5c]?)(?P<inner>(?<=[|\uff5c])/|)"
    r"(?P<name>[^\s<>◁▷|\uff5c/=`\[\]{}\"']{0,60})"
    r"(?P<detail>[\s=/][^<>◁▷\[\]\n]{0,200})?(?P<tail>[|\uff5c]?)(?P<close>[>▷\]]?)"
)
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

# Channels whose marks a server has removed: only the words that named them remain, joined to the
# text ("analysisThe user asks...assistantfinalThe Thames.").
_CHANNELS = ("final", "analysis", "commentary")
_JOINED = [f"assistant{name}" for name in _CHANNELS]
_BEGUN = sorted({word[:size] for word in _JOINED for size in range(1, len(word))}, key=len)[::-1]

JOINED = re.compile(rf"assistant(?P<name>{'|'.join(_CHANNELS)})|(?:{'|'.join(_BEGUN)})\Z")
"""A complete word anywhere, or the beginning of one (without a name) at the end of the text."""
AFTER_NO_LETTER = re.compile(rf"(?<![^\W_])(?:{JOINED.pattern})")
"""The same in text for people: "classassistantfinal" does not match."""

# No English word begins so; but "final" and "commentary" may begin a sentence in small letters.
FIRST = re.compile(
    r"\s*(?:(?P<name>analysis(?=[^\W_]|[\"“(*])|(?:final|commentary)(?=[A-Z\d\"“(*])"
    r"|commentary(?= to=))"
    rf"|(?:{'|'.join({f'{name} to='[:size] for name in _CHANNELS for size in range(1, 14)})})\Z)"
)
"""The channel that a reply begins with, or (without a name) the beginning of one."""


def read(text: str) -> Mark | None:
    """Return the mark at the beginning of `text`; None = there is none. Raises MoreNeeded."""
    match = _MARK.match(text)
    if match is None:
        return None
    if not match["close"]:
        if match.end() == len(text) and _may_become_mark(match):
            raise MoreNeeded
        return None
    mark = _complete(match)
    if mark is None or mark.kind not in (Kind.ROLE, Kind.CHANNEL):
        return mark
    if mark.closing:
        return replace(mark, kind=Kind.END) if mark.name == "turn" else mark
    after = heading(text[len(mark.text) :])
    return replace(mark, text=text[: len(mark.text) + after.size], heading=after)


def heading(text: str) -> Heading:
    """Return the heading at the beginning of `text`. Raises MoreNeeded."""
    begun = _WORD_BEGUN.fullmatch(text)
    if begun and any(word.startswith(begun["name"].lower()) for word in _WORDS):
        raise MoreNeeded
    match = _WORD.match(text)
    if match is None or match["name"].lower() not in _WORDS:
        return Heading()
    return Heading(match["name"].lower(), match["tool"] or "", match.end())


def _complete(match: re.Match[str]) -> Mark | None:
    barred, detail, name = bool(match["bar"]), match["detail"] or "", _folded(match["name"])
    closing = bool(match["slash"] or match["inner"])
    if not name or not _DETAIL.fullmatch(detail) or (barred and detail):
        return None
    if match["open"] == "[":
        kind = SQUARE.get(name)
        in_capitals = match["name"].isupper() or kind is Kind.THINKING
        return Mark(kind, name, match[0], closing) if kind and in_capitals and not barred else None
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


def _may_become_mark(match: re.Match[str]) -> bool:
    name = _folded(match["name"])
    if match["open"] == "[":
        decorated = match["bar"] or match["detail"] or match["tail"]
        return not decorated and any(each.startswith(name) for each in SQUARE)
    if match["bar"]:
        return not match["detail"]
    if match["tail"] or match["detail"]:
        known = name in BARRED if match["tail"] else name in PLAIN
        return known and bool(_DETAIL_BEGUN.fullmatch(match["detail"] or ""))
    return any(each.startswith(name) for each in (*PLAIN, *BARRED))


def _folded(name: str) -> str:
    return name.lower().replace("-", "_").replace("▁", "_")
