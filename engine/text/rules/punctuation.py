"""Punctuation: where a token is split into several words, and which single mark stands for the
punctuation around a word.

Invariant: a mark is "" or one of . , ? ! ; : and a pause that only comes from a bracket or a dash
(soft) gives way to every written mark.
"""

import re
from dataclasses import dataclass

from engine.text.word import Piece

ELLIPSIS = "…"
"""Stands for a mark that depends on the next token: a pause or a full stop."""

DASHES = frozenset({"-", "–", "—", "―", "--", "---"})

SENTENCE_END = ".!?…。！？"  # full-width punctuation ends sentences too
CLOSERS = "\"')]}»”’*_"
"""These may follow the mark that ends a word."""

_SENTENCE = r"\.(?=[A-Z][a-z]+(?:[^\w.]|\.?$))"
_BREAK = re.compile(
    r"[—―]+|(?<!\w)–+(?!\d)"
    r"|–+(?!\w|'\d|[$€£¥₹₩₽₺₿฿₴₦₪₫₱])"  # a tight en dash may be a range
    r"|(?<=[a-z])(?<!\b[ap]m)(?<!\d[ap]m)–+(?=[a-z])"
    r"|(?<=[^\W\d_])--+(?=[^\W\d_])"
    r"|(?:\.{3,}|…)[\"”']*(?=\w)"
    r"|(?<=[^\W\d_])(?<!\bTL)(?:[,!?;]+|(?<!:):(?!:))[\"'”’)]*(?=[\"“‘(]?[^\W\d_])"
    r"|^[,;:?]+(?=[^\W\d_])"
    r"|(?<=\b[A-Z][a-z])\.(?=\d|[A-Z][a-z])"  # "No.5", "Rs.500", "Dr.Who"
    r"|(?<=\b(?:Mrs|Sgt|Gen|Sen|Rep|Gov|Rev|Col|Maj))\.(?=[A-Z][a-z])"
    r"|(?<=\b(?:it|me|so|we|do|us|up|in|on|go|no|he))\.(?=[A-Z][a-z]*(?:\W|$))"
    rf"|(?<=\d)(?<![\w.]\d){_SENTENCE}|(?<=\d\d){_SENTENCE}"  # "42.Then"
    rf"|(?<=\d[%a-z]){_SENTENCE}|(?<=\d[a-z]{{2}}){_SENTENCE}|(?<=[a-z]\)){_SENTENCE}"
    r"|(?<=\b[Tt][Ee][Ll]:)(?=[+\d(])|(?<=\bsms:)(?=[+\d(])|(?<=\bfax:)(?=[+\d(])"
    r"|(?<=[a-z]{3})\.(?=[A-Z][a-z]*(?:[^\w\[]|$))"  # "end.Then", but not "Console.WriteLine"
    r"|^[\"'“(]*[$€£¥₹]\d[\d,]*(?:\.\d+)?(?=(?!hundred|thousand|[a-z]{1,4}illion)"
    r"(?:[a-z]{4}|[a-z]{2}n't|(?:the|and|for|was|off|per|now|but|you|she|are|not|all|his|her|its)(?!\w)"
    r"|(?:is|or|to|in|at|on|if|it|he|we|so|an?|by|as|my)(?!\w)))"
    r"|(?<=\w)(?=\((?!e?s\))[^\W\d_]{3,}\))"  # "word(note)"
)
_ADDRESS = re.compile(
    r"://|^www\.|^[\w-]+(?:\.[\w-]+)+[/?]\S*=|^\S+@\S+\.\w|^(?=.*\d)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![0-9a-z])",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:[\"'“”‘«‹(\[{¿¡—―`]|\.{2,}|…)+")
_TRAILING = ".,;:!?…\"'”’»›)]}—―–`"
_JOINED_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,}(?=['-])")
_SHORT_IN_RANGE = re.compile(
    r"\b(?:[ap]\.m|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Wed|Thurs?|Fri|Sat|Sun)"
    r"\.?(?=[-–]\w)"
)
_OPTIONAL_PLURAL = re.compile(r"\((e?s)\)")


def ends_sentence(text: str) -> bool:
    """Return whether a sentence ends with the last word of a text."""
    return text.rstrip(CLOSERS).endswith(tuple(SENTENCE_END))


@dataclass(frozen=True)
class Peeled:
    """A token without its surrounding punctuation. `soft`: the mark is only the pause of a bracket
    or dash."""

    body: str
    opened: str
    punctuation: str
    mark: str
    soft: bool


def split(piece: Piece) -> list[Piece]:
    """Return the parts of a token that are separate words, each with the marks after it."""
    if _ADDRESS.search(piece.text):
        return [piece]
    piece = piece.replace(_OPTIONAL_PLURAL, lambda match: match[1])
    piece = piece.replace(_SHORT_IN_RANGE, lambda match: match[0].replace(".", ""))
    piece = piece.replace(_JOINED_INITIALS, lambda match: match[0].replace(".", ""))
    parts = []
    begin = 0
    for match in _BREAK.finditer(piece.text):
        if begin < match.end() < len(piece.text):
            parts.append(piece.cut(begin, match.end()))
            begin = match.end()
    parts.append(piece.cut(begin))
    return parts


def peel(text: str) -> Peeled:
    """Take quotes, brackets and punctuation off. A token without letters or figures has no body,
    unless it is a sign with a reading of its own.
    """
    if not any(char.isalnum() for char in text):
        return _peel_signs(text)
    lead = _LEAD.match(text)
    opened = lead[0] if lead else ""
    rest = text[len(opened) :]
    body = rest.rstrip(_TRAILING)
    while body.endswith("--"):
        body = body.rstrip("-").rstrip(_TRAILING)
    punctuation = rest[len(body) :]
    brackets = ")" in punctuation and "(" not in body
    mark = mark_of(punctuation)
    pause = not mark and (brackets or any(dash in punctuation for dash in ("—", "―", "–", "--")))
    return Peeled(body, opened, punctuation, "," if pause else mark, pause)


def mark_of(punctuation: str) -> str:
    """Return one mark for a run of punctuation; ELLIPSIS if the next token decides."""
    for mark in "?!":
        if mark in punctuation:
            return mark
    if "…" in punctuation or "..." in punctuation:
        return ELLIPSIS
    return next((mark for mark in ".:;," if mark in punctuation), "")


def opens_pause(peeled: Peeled) -> bool:
    """Return whether the word before needs a pause: a bracket, but no area code, or a dash."""
    if re.fullmatch(r"\d{3}|0\d+", peeled.body) and peeled.punctuation:
        return False
    return any(char in "(—―" for char in peeled.opened)


def _peel_signs(text: str) -> Peeled:
    marks = set(text) <= set(".,;:!?…\"'“”‘’«»()[]{}—―–-`*_|")
    if not marks or text in ("-", "–", "*", "||"):
        body = text.strip("\"'“”‘’`(),.;:[]{}").rstrip("\"'”’),.;:]}!?…")
        opened, punctuation = text[: text.index(body)], text[text.rindex(body) + len(body) :]
        return Peeled(body, opened, punctuation, mark_of(punctuation), soft=False)
    mark = mark_of(text)
    pause = not mark and any(char in "—―–-(" for char in text)
    return Peeled("", "", text, "," if pause else mark, pause)
