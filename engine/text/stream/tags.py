"""XML tags and stage directions, which are not spoken; some of them are pauses.

Invariant: possible text stays: a comparison, a type such as List<int>, a placeholder such as
<name>, and every bracket that holds anything but a direction.
"""

import re

from engine.languages import ENGLISH
from engine.text.llm_markers import THINKING, UNSAID, VALUED
from engine.text.rules import numbers
from engine.text.rules.links import spell
from engine.text.stream.elements import LONGEST_S, Break
from engine.text.tables import words
from engine.text.word import Piece

_SSML, _PLACEHOLDERS, _ACTS, _MANNERS, _ASIDES, _LEADS, _LED, _SOURCES = (
    words("tags", name)
    for name in ("ssml", "placeholders", "acts", "manners", "asides", "leads", "led", "sources")
)
_GO_ON, _THINGS, _MACROS, _KEYS, _WAYS, _SPELLED = (
    words("tags", name) for name in ("go_on", "things", "macros", "keys", "ways", "spelled")
)
_STAGE = _ACTS | _MANNERS
_PAUSES = frozenset(("break", "pause", "pauses", "beat", "silence"))
_HEADS = _LEADS | _PAUSES | _SOURCES | _STAGE | {"speaker", "sound", "sounds"}
_UNSAID = frozenset((*THINKING, *UNSAID))
HIDING = re.compile(
    r"<!--|\[TOOL_CALLS\]|\[(?P<kind>TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT)\]|<(?P<name>"
    + "|".join(
        (r"(?<!\w<)" if name.isalpha() else "")
        + re.escape(name)
        + ("(?==)" if name in VALUED else "")
        for name in sorted(_UNSAID)
    )
    + r")(?:=[^\s<>]*)?>",
    re.IGNORECASE,
)
"""Begins what nobody says, up to "-->", the end of the line or the closing tag of the name. A type
may have the name of such a tag if that is one word: List<function>."""
_TAG = re.compile(
    r"<(?P<end>/)?(?P<name>[A-Za-z][\w:.-]*)(?:[\s=][^<>]*)?/?>|<\?\w+\?>|<!\[CDATA\[|\]\]>"
)
_DIRECTION = re.compile(r"\[/?(?P<name>[A-Za-z]+(?:_[A-Za-z]+)*)[.!…]*\](?![(\[])")
_VALUED = re.compile(r"\[/?(?P<name>[A-Za-z]+(?:_[A-Za-z]+)*)[:=][\w.]+[.!…]*\](?![(\[])")
_BRACED = re.compile(r"(?<![^\W_]|[\\$%#@{^_])\{(?P<name>[A-Za-z]+)\}(?!\w)")
_MACRO = re.compile(r"\{\{(?P<name>\w+)\}\}")
_NUMBERED_SPEAKER = r"\[(?:[Ss]|(?i:speaker|spk)[_-]?)\d{1,3}\]"
_SPEAKER = re.compile(rf"(?<!\w){_NUMBERED_SPEAKER}(?![(\[])|{_NUMBERED_SPEAKER}(?=[A-Z])")
_TIME = r"\d{1,2}(?::\d\d){1,2}(?:[.,]\d{1,3})?"
_STAMP = re.compile(rf"(?<![\w\])])\[{_TIME}(?:[-–]{_TIME})?\](?!\()")
_STAMP_BEGUN = re.compile(rf"\[{_TIME}$")
_ACTED = "|".join(sorted(_ACTS))
_LONG = re.compile(  # up to its closing mark
    rf"[\[(*_](?:in|with)(?: an?)? (?:[a-z-]+,? ){{0,2}}(?:{'|'.join(sorted(_WAYS))})"
    rf"(?: of [a-z]+)?[.!…]*([\])*_])|(?:{_ACTED})(?: [a-z']+){{0,3}}[.!…]* ([*)\]])",
    re.IGNORECASE,
)
_LONG_BEGUN = re.compile(
    r"[\[(*_](?:in|with)(?: an?(?: [a-z-]+,?){0,4}| [a-z-]+,?)?"
    rf"|(?:{_ACTED})(?: [a-z']+[.!…]*){{0,3}}",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\((?P<name>[A-Za-z]+)\)")
_ACT = re.compile(r"^[\"“]?(\*\*?|_)(?P<name>[A-Za-z]+)[.!…]*\1(?!\w)")
PAUSE = re.compile(
    r"(?:\[|(?<![^\W_]|[\\$%#@{^_])\{)(?:pause|beat|silence|break(?=[:=\d]))(?:[:=]?[\d.]+m?s?|[:=]\w+)?[\]}](?![(\[])"
    r"|\((?:pause|beat)\)|<(?:pause|break|silence)(?:[:=][^<>\s]*)?/?>",
    re.IGNORECASE,
)
_OPENED = re.compile(
    r"(<)/?([A-Za-z][\w:.-]*)$|(<)(\?\w+|!DOCTYPE)$"
    r"|^(?:\*{1,3}(?=[\[(]))?([\[({_]|\*\*?)([A-Za-z]+|[\d.]+-?[a-z]*(?!,))[:,]?$"
)
ATTRIBUTE = re.compile(r"""[\w:.-]+=["']|/?>""")
_SECOND_WORD = re.compile(r"([A-Za-z]+)([\]})*_](?![(\[])|,?$)")
_NUMBERED = re.compile(r"[\dA-Z]{1,2}\]")
_SECONDS = re.compile(r"(\d*\.?\d+)\s*(m(?=s))?s?", re.IGNORECASE)
ALIAS = re.compile(r"""<sub\s[^<>]*\balias=(["'])(.*?)\1""", re.IGNORECASE)
_SAY_AS = re.compile(r"""<say-as\s[^<>]*\binterpret-as=["']?([\w:-]+)""", re.IGNORECASE)
_CLOSERS = {"<": ">", "[": "]", "(": ")", "{": "}", "*": "*"}
_INAUDIBLE_S, _SHORT_S = 0.1, 0.5  # up to the latter, a pause is that of a comma
_LONG_S = 1.0
_STRENGTHS = {"none": 0.0, "x-weak": 0.0, "weak": 0.3, "strong": 0.8, "x-strong": 1.2}


def without_tags(piece: Piece, *, begins: bool) -> Piece:
    """Drop the tags that a token holds completely; `begins`: it begins a sentence."""
    return piece.replace(_TAG, lambda match: match[0] if _is_text(match, begins=begins) else " ")


def without_directions(piece: Piece, *, begins: bool) -> Piece:
    """Drop the directions that a token holds completely; `begins`: it begins a sentence."""
    if not any(sign in piece.text for sign in "[{(*_"):
        return piece
    piece = piece.replace(_SPEAKER, " ").replace(_STAMP, " ")
    asides = _STAGE | _ASIDES if begins else _ACTS | _ASIDES
    for pattern, names in (
        (_VALUED, _STAGE | _KEYS),
        (_DIRECTION, _STAGE),
        (_BRACED, _STAGE),
        (_MACRO, _MACROS),
        (_ASIDE, asides),
        *([(_ACT, _ACTS)] if begins else []),
    ):
        piece = _without(piece, pattern, names)
    return piece


def _without(piece: Piece, pattern: re.Pattern[str], names: frozenset[str]) -> Piece:
    """Put a space in place of the directions whose name is one of these."""
    return piece.replace(pattern, lambda match: " " if match["name"].lower() in names else match[0])


def interpretation(written: str, language: str) -> str:
    """Return the way to say the content of a tag: "spelled", "ordinal", or as written ("")."""
    match = _SAY_AS.match(written) if language == ENGLISH else None
    kind = match[1].lower().rpartition(":")[2] if match else ""
    return "spelled" if kind in _SPELLED else kind if kind == "ordinal" else ""


def interpreted(text: str, kind: str) -> str:
    """Return the content of such a tag in words."""
    figures = re.sub(r"\D", "", text)
    return numbers.ordinal(int(figures)) if kind == "ordinal" and figures else spell(text)


def opened(text: str, *, begins: bool) -> tuple[int, str] | None:
    """Start and closing mark of a tag or direction that may go on in the next token; else None."""
    match = _OPENED.search(text)
    if not match:
        return None
    sign, written = next((match[i], match[i + 1]) for i in (1, 3, 5) if match[i])
    name = written.lower()
    if sign == "<":
        certain = bool(match[3]) or name in _SSML or name in _STAGE
    elif sign in "[{":
        is_verb = name in _ACTS or name.endswith(("ing", "es"))
        certain = (name in _STAGE and is_verb) or (name in _STAGE | _KEYS and text[-1] in ":,")
    else:
        acting = name in _MANNERS and written.endswith("ing")
        acting = acting or (name in _STAGE and written.islower() and text[-1] == ",")
        certain = (begins and (name in _ACTS or acting)) or (sign == "(" and name in _ACTS)
    return (match.start(), _CLOSERS.get(sign, sign)) if certain else None


def may_open(text: str, previous: str, *, begins: bool) -> bool:
    """Return whether the next token decides if a tag or direction begins here, or this is one."""
    if _STAMP_BEGUN.fullmatch(text) or (previous in _CLOSERS and text.lower() in _ACTS):
        return True
    match = _OPENED.search(text)
    if not match:
        return begins and bool(_manner(text))
    if match[1]:
        return True
    head = match[6] or ""
    if _LONG_BEGUN.fullmatch(text) and (begins or match[5] == "["):
        return True
    if match[5] in ("(", "*", "_"):  # where they are also brackets and emphasis
        return begins and (head.lower() if match[5] == "(" else head) in _HEADS - _ACTS
    return match[5] in ("[", "{") and (head.lower() in _HEADS or head[0].isdigit())


def may_go_on(text: str, following: str) -> bool:
    """Return whether a text that may open a direction may still do so with the next token."""
    return bool(_LONG_BEGUN.fullmatch(f"{text} {following}"))


def goes_on(text: str, following: str) -> tuple[int, str] | None:
    """See opened(), of a text that may open one; closed by "" if it ends before `following`."""
    if found := _LONG.match(f"{text} {following}"):
        return (0, found[1] or found[2])
    if _STAMP_BEGUN.fullmatch(text):
        return (0, "]") if following in ("-", "–", "—", "-->") else None
    match = _OPENED.search(text)
    if not match:
        manner, first = _manner(text), following[:1]
        ends = manner in _MANNERS or following[:2].istitle() or first in "\"“'‘*"
        return (0, "") if manner and ends and not first.islower() else None
    if match[1]:
        closing = f"</{match[2]}>" if match[2].lower() in _UNSAID and match[0][1] != "/" else ">"
        return (match.start(), closing) if ATTRIBUTE.match(following) else None
    closing = _CLOSERS.get(match[5], match[5])
    closed = match[5] in ("[", "{") or following.find(closing) > 0
    return (0, closing) if closed and _goes_on(match[6].lower(), following) else None


def _goes_on(head: str, following: str) -> bool:
    """Return whether the second token of a bracket makes it a direction."""
    if head == "speaker":
        return bool(_NUMBERED.match(following))
    if head in _PAUSES and (following[:1].isdigit() or following == "for"):
        return True
    if head[0].isdigit():
        led = _SECOND_WORD.match(following)
        return following.startswith("second") or bool(led and led[1].lower() in _PAUSES)
    second = _SECOND_WORD.match(following)
    if not second:
        return False
    name, closed = second[1].lower(), second[2] != ""
    if head in ("sound", "sounds"):
        return name in ("of", "effect", "effects")
    if head in _LEADS and (name in _STAGE | _LED | _SOURCES):
        return closed or name not in _LED
    acts = name in _GO_ON | _STAGE or (name.endswith("ing") and name not in _THINGS)
    return acts if head in _SOURCES else head in _STAGE and name in _GO_ON


def is_manner(text: str) -> bool:
    """Return whether a token at the end of its line is a direction; *Silence* may be a title."""
    name = _manner(text)
    return name in _MANNERS and (name in text or name.endswith("ing"))


def _manner(text: str) -> str:
    """The name of a possible direction at the head of a sentence, as *whispering*, or ""."""
    match = _ACT.fullmatch(text)
    if not match or match[1] == "**" or match[2].lower() in _ACTS:
        return ""
    acting = match[2].islower() and match[2].endswith(("ing", "s")) and match[2] not in _THINGS
    return match[2].lower() if acting or match[2].lower() in _MANNERS else ""


def pause(written: str) -> Break | None:
    """Return the pause of a tag or a direction."""
    lower = written.lower()
    names = re.findall("[a-z]+", lower)
    if not names or not _PAUSES & set(names if lower[0] in "[{" else names[:1]):
        return None
    seconds = min(_seconds(lower, names), LONGEST_S)
    if seconds < _INAUDIBLE_S:
        return None
    return Break("," if seconds <= _SHORT_S else ".", seconds)


def _seconds(lower: str, names: list[str]) -> float:
    if timed := _SECONDS.search(lower):
        return float(timed[1]) / (1000 if timed[2] else 1)
    strengths = re.findall(r"x-weak|x-strong|weak|strong|none", lower)
    if strengths:
        return _STRENGTHS[strengths[0]]
    return _LONG_S if "long" in names else _SHORT_S


def _is_text(match: re.Match[str], *, begins: bool) -> bool:
    """Return whether pointed brackets hold a type (List<int>) or stand for a name (<your-name>)."""
    name = (match["name"] or "").lower()
    if not name or match["end"] or name in _SSML | _STAGE:
        return False
    before, behind = match.string[: match.start()], match.string[match.end() :]
    if f"</{match['name']}>" in behind:
        return False
    stands_for = len(name) == 1 or name.startswith("your") or (name in _PLACEHOLDERS and not begins)
    return before[-1:].isalnum() or (stands_for and not behind[:1].isalnum())
