"""Tags of any XML, and stage directions: they are not spoken, and some of them are pauses.

Invariant: possible text stays: a comparison, a type such as List<int>, a placeholder such as
<name>, and every bracket that holds anything but a direction.
"""

import re

from engine.text.stream.piece import Piece
from engine.text.tables import words

_SSML, _PLACEHOLDERS, _ACTS, _MANNERS, _ASIDES, _LEADS, _LED = (
    words("tags", name)
    for name in ("ssml", "placeholders", "acts", "manners", "asides", "leads", "led")
)
_STAGE = _ACTS | _MANNERS
_PAUSES = frozenset(("break", "pause", "pauses", "beat", "silence"))
_TAG = re.compile(
    r"<(?P<end>/)?(?P<name>[A-Za-z][\w:.-]*)(?:[\s=][^<>]*)?/?>|<\?\w+\?>|<!\[CDATA\[|\]\]>"
)
_DIRECTION = re.compile(r"\[([A-Za-z]+)(?:[:=][\w.]+)?\](?![(\[])")
_ASIDE = re.compile(r"\(([A-Za-z]+)\)")
_ACT = re.compile(r"^([*_])([A-Za-z]+)\1(?!\w)")
_OPENED = re.compile(
    r"(<)/?([A-Za-z][\w:.-]*)$|(<)(\?\w+|!DOCTYPE)$"
    r"|^([\[(*])([A-Za-z]+|[\d.]+-?[a-z]*):?$"
)
_ATTRIBUTE = re.compile(r"""[\w:.-]+=["']|/?>""")
_LED_BY = re.compile(r"([A-Za-z]+)\](?![(\[]).*")
_SECONDS = re.compile(r"(\d*\.?\d+)\s*(m?)s?", re.IGNORECASE)
_CLOSERS = {"<": ">", "[": "]", "(": ")", "*": "*"}
_INAUDIBLE_S, _SHORT_S = 0.1, 0.5  # up to the latter, a pause is that of a comma


def without_tags(piece: Piece, *, begins: bool) -> Piece:
    """Drop the tags that a token holds completely; `begins`: it begins a sentence."""
    return piece.replace(_TAG, lambda match: _tag(match, begins=begins))


def without_directions(piece: Piece, *, begins: bool) -> Piece:
    """Drop the directions that a token holds completely; `begins`: it begins a sentence."""
    piece = piece.replace(
        _DIRECTION, lambda match: _pause_or_text(match, match[1].lower() in _STAGE)
    )
    piece = piece.replace(
        _ASIDE, lambda match: _pause_or_text(match, match[1].lower() in _ACTS | _ASIDES)
    )
    if begins:
        piece = piece.replace(_ACT, lambda match: _pause_or_text(match, match[2].lower() in _ACTS))
    return piece


def opened(text: str, *, begins: bool) -> tuple[int, str] | None:
    """Start and closing mark of a tag or direction that may go on in the next token; else None."""
    match = _OPENED.search(text)
    if not match:
        return None
    sign, name = next((match[i], match[i + 1].lower()) for i in (1, 3, 5) if match[i])
    if sign == "<":
        certain = bool(match[3]) or name in _SSML or name in _STAGE
    elif sign == "[":
        is_verb = name in _ACTS or name.endswith(("ing", "es"))
        certain = name in _STAGE and (is_verb or text[-1] == ":")
    else:
        certain = name in _ACTS and (sign == "(" or begins)
    return (match.start(), _CLOSERS[sign]) if certain else None


def may_open(text: str) -> bool:
    """Whether the next token decides if a tag or a direction begins at the end of this one."""
    match = _OPENED.search(text)
    if not match:
        return False
    leads = match[5] == "[" and (match[6].lower() in _LEADS | _PAUSES or match[6][0].isdigit())
    return bool(match[1]) or leads


def goes_on(text: str, following: str) -> tuple[int, str] | None:
    """See opened(), of a text that may open one."""
    match = _OPENED.search(text)
    if match and match[1]:
        return (match.start(), ">") if _ATTRIBUTE.match(following) else None
    if not match:
        return None
    led = _LED_BY.fullmatch(following)
    known = led and led[1].lower() in _STAGE | _LED
    timed = match[6].lower() in _PAUSES and (following[:1].isdigit() or following == "for")
    timed = timed or (match[6][-1:].isdigit() and following.startswith("second"))
    return (match.start(), "]") if known or timed else None


def continues(text: str) -> bool:
    """Whether a tag may go on with this token on the next line."""
    return bool(_ATTRIBUTE.match(text))


def mark(written: str) -> str:
    """The mark that pauses as long as a tag or a direction asks for; "" for one without a pause.

    No pause is longer than that of a full stop.
    """
    lower = written.lower()
    names = re.findall("[a-z]+", lower)
    if not names or not _PAUSES & set(names if lower[0] == "[" else names[:1]):
        return ""
    if any(name in ("none", "x", "long", "strong") for name in names):
        return "." if "long" in names or "strong" in names else ""
    match = _SECONDS.search(lower)
    seconds = float(match[1]) / (1000 if match[2] else 1) if match else _SHORT_S
    return "" if seconds < _INAUDIBLE_S else "," if seconds <= _SHORT_S else "."


def _tag(match: re.Match[str], *, begins: bool) -> str:
    name = (match["name"] or "").lower()
    if name and not match["end"] and _is_text(match, name, begins=begins):
        return match[0]
    return f"{mark(match[0])} "


def _is_text(match: re.Match[str], name: str, *, begins: bool) -> bool:
    """Whether pointed brackets hold a type (List<int>) or stand for a name (<your-name>)."""
    if name in _SSML or name in _STAGE:
        return False
    before, behind = match.string[: match.start()], match.string[match.end() :]
    if f"</{match['name']}>" in behind:
        return False
    stands_for = len(name) == 1 or name.startswith("your") or (name in _PLACEHOLDERS and not begins)
    return before[-1:].isalnum() or (stands_for and not behind[:1].isalnum())


def _pause_or_text(match: re.Match[str], is_direction: bool) -> str:
    return f"{mark(match[0])} " if is_direction else match[0]
