"""Numbers of notes and citations, which are not spoken: works.², 5%.¹, [2,3], [2, 3], 【4†source】.

Invariant: a power keeps its figure (x², 10², 5 feet²), and a list its brackets: the interval
[0,1], the list [1, 2].
"""

import re

from engine.text.tables import section, words
from engine.text.unit_table import SIGNS, UNITS
from engine.text.word import Piece

_RAISED = "[⁰¹²³⁴-⁹]+(?:[,⁻–-][⁰¹²³⁴-⁹]+)*"
_BEHIND = r"(?![\w⁻⁺^(])"
_BEHIND_MARK = re.compile(
    rf"(?:(?<=[.,;:!?%\"”’\]])|(?<=[a-z]{{3}}\))|(?<=\b(?:19|20)\d\d)){_RAISED}{_BEHIND}"
)
_BEHIND_WORD = re.compile(rf"(?<![\w^])([^\W\d_]{{3,}}){_RAISED}{_BEHIND}")
_POWERED = words("notes", "functions") | SIGNS.keys() | {f for unit in UNITS for f in unit.forms}
_ALONE = re.compile(rf"^{_RAISED}(?=[.,;:!?]?$)|(?<=[.,;:!?])\^[\d,]+\^")  # Pandoc: so.^1^
_SOURCE = re.compile(r"【[^】\s]*】|\ue200[^\ue201\s]*\ue201|(?<=[.,;])\[[a-z]\]")
_NUMBERS = r"\d{1,3}(?:[,;–-]\d{1,3})*"
_CITED = re.compile(rf"\[({_NUMBERS})\](?!\()")
_BEGUN = re.compile(rf"\[({_NUMBERS})[,;]$")
_WENT_ON = re.compile(rf"({_NUMBERS})(?:[,;]|\].*)")
_INDEXES = r"((?:\[[\w+*-]{1,12}\])+)"
_INDEXED = re.compile(
    rf"(?<!\w)({'|'.join(sorted(words('notes', 'arrays')))}|[A-Za-z]|\w*_\w+|[a-z]{{2,}}[A-Z][a-z]+"
    rf"|[b-df-hj-np-tv-xz]+|[A-Za-z]+(?=\[0\])){_INDEXES}"
)
_INDEXED_IN_CODE = re.compile(rf"(?<!\w)([A-Za-z_]\w*){_INDEXES}")
_CODE = re.compile(r"\w\(\w+\[|\](?:[-+*/]?=|\.[a-z_]{2})")
_OPERATORS = frozenset("= == != += -= *= /= <= >= && || :=".split())
_REMARKED = "|".join(words("notes", "remarks"))
_BRACKETED = rf"\[(?:{_REMARKED})[?!]?\](?!\()"
_APART = rf"\[(?:sic[?!]?|(?:{_REMARKED})\?)\](?!\()"
_REMARK = re.compile(rf"(?:(?<=[\w.,;:!?%)”’\]])|(?<=.[\"'])){_BRACKETED}|^{_APART}", re.IGNORECASE)
BEHIND_REMARK = re.compile(rf"^(?:{_BRACKETED})+", re.I)
_REMARK_BEGUN = re.compile(r"(?P<glued>\S)?\[(?P<head>[a-z][a-z-]*)$", re.I)
_REMARK_SECOND = re.compile(r"[a-z-]+|[–—]|\d{1,3}(?=\])", re.I)
_LONG_APART = dict.fromkeys(words("notes", "needed"), "needed") | {"emphasis": "added mine"}
_LONG_GLUED = _LONG_APART | section("notes", "long_remarks")
_LISTS = words("notes", "lists")


def without_notes(piece: Piece, *, listed: bool) -> Piece:
    """Drop the notes of a token; `listed`: what is in square brackets may be a list."""
    piece = piece.replace(_BEHIND_MARK, "").replace(_ALONE, "").replace(_SOURCE, "")
    piece = piece.replace(_REMARK, "")
    piece = piece.replace(
        _BEHIND_WORD, lambda match: match[0] if match[1].lower() in _POWERED else match[1]
    )
    if listed:
        return piece
    return piece.replace(_CITED, lambda match: "" if _rises(match[1]) else match[0])


def spoken_indexes(piece: Piece, previous: str, *, code: bool) -> Piece:
    """Say the indexes of code, which are not notes: array[0], a[i][j], = foo[5]."""
    like_code = code or previous in _OPERATORS or _CODE.search(piece.text)

    def index(match: re.Match[str]) -> str:
        is_unit = match[1] in _POWERED and not code  # 100 km[5]
        return match[0] if is_unit else match[1] + re.sub(r"[\[\]]+", " ", match[2]).rstrip()

    return piece.replace(_INDEXED_IN_CODE if like_code else _INDEXED, index)


def may_list(previous: str) -> bool:
    """Return whether square brackets behind this word, "" in a new line, may hold a list."""
    if previous.endswith(("],", "];")):
        return False
    return not previous or previous[-1] in "=([{,:+-*/<>" or previous.lower() in _LISTS


def may_open(text: str, previous: str) -> bool:
    """Return whether a citation may go on in the next token."""
    if (remark := _REMARK_BEGUN.search(text)) and _seconds(remark):
        return True
    match = _BEGUN.search(text)
    if not match or not _rises(match[1]):
        return False
    return match.start() > 0 or not may_list(previous)


def goes_on(text: str, following: str) -> tuple[int, str] | None:
    """Start and closing mark of a citation that this token continues; None if it does not."""
    remark, second = _REMARK_BEGUN.search(text), _REMARK_SECOND.match(following)
    if remark and second:
        seconds, word = _seconds(remark), second[0].lower()
        if word in seconds or (word.isdecimal() and "#" in seconds):
            return text.rindex("["), "]"
    begun, more = _BEGUN.search(text), _WENT_ON.fullmatch(following)
    if not (begun and more and _rises(f"{begun[1]},{more[1]}")):
        return None
    return begun.start(), "]"


def _seconds(remark: re.Match[str]) -> list[str]:
    """The words that may follow the first one of an editor's remark: "[citation needed]"."""
    remarks = _LONG_GLUED if remark["glued"] else _LONG_APART
    return remarks.get(remark["head"].lower(), "").split()


def _rises(numbers: str) -> bool:
    """Return whether the numbers can be those of notes: from 1 on, each above the one before."""
    values = [0, *map(int, re.findall(r"\d+", numbers))]
    return values == sorted(set(values))
