"""One common form for spoken and typed text: it makes "What's 3*4?" and "what is three times four"
comparable.

Invariant: canonical(canonical(text)) == canonical(text); the result is lower case, with numbers as
digits, no sentence punctuation, no courtesy words around it and no contractions.
"""

import re

from text_to_num import alpha2digit

from engine.llm.skills.matching.fillings import alternatives
from engine.resources import table

MAX_CHARS = 2000  # no skill understands longer requests; the rest is ignored

_SYMBOLS, _CONTRACTIONS, _INDIRECT = (
    [(re.compile(pattern), new) for pattern, new in table("skills", "rewrites.toml")[name]]
    for name in ("symbols", "contractions", "indirect")
)
_PUNCTUATION = re.compile(r"[?!;]+|[,:](?!\d)|(?<!\d):|\.(?!\d)")
# "10mi" and "20km" are split into number and unit, and so are "2e5" and "3x4"; "25th" stays one
# word.
_NUMBER_THEN_LETTERS = re.compile(r"(?<=\d)(?!(?:st|nd|rd|th)\b)(?=[a-z])")
_OPERATOR_BETWEEN = re.compile(r"\s*([*/+^()=])\s*")
_MINUS_BETWEEN = re.compile(r"(?<=[\d)])\s*-\s*(?=[\d(])")
_HYPHEN_AFTER_NUMBER = re.compile(r"(?<=\d)-(?=[a-z])")
_SPACES = re.compile(r"\s+")
_NOW_BETWEEN = re.compile(r" (?:right now|currently|exactly|at (?:the|this) moment)(?= )")

# alpha2digit would write "a second" as "a 2nd"; the time unit is far more common here.
_SECOND = re.compile(r"\bsecond\b")
_SHIELD = "§"

_COURTESY_BEFORE = re.compile(
    rf"^(?:{alternatives('courtesy_before')})\b,?\s+(?=\S)", re.IGNORECASE
)
_COURTESY_AFTER = re.compile(rf"[\s,]+(?:{alternatives('courtesy_after')})[\s.!?]*$", re.IGNORECASE)

# Hesitations ("um") and the marks around them are dropped, except inside quotations.
_QUOTES = '"\u201c\u00ab'
_QUOTED = r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb"
_MARKS = r"\s*(?:,|\.{2,}|\u2026|\u2014|(?<=\s)[-\u2013](?=\s))"
_SOUND = re.compile(
    rf"{_QUOTED}|(?P<before>(?:{_MARKS})*)(?:(?<=[,.\s\u2026\u2014])|^)\s*\b"
    r"(?P<sound>[Uu](?:m+|h+|hm+)|[Ee]rm*|[Hh]m{2,})\b(?![-\s']?(?:huh|oh|uh|hm+)\b|['-]\w)"
    rf"(?P<after>(?:{_MARKS})*)"
)
_LIKE = re.compile(
    rf"{_QUOTED}|(?:^|{_MARKS}\s*)(?:like|you know)(?:{_MARKS}|(?=[\s.?!]*$))"
    r"|(?<=\w)\s(?:like|you know)(?=\s(?:\d|(?:one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|half|noon|midnight)\b)"
    r"|\san?\s(?:half|quarter|hour|minute|\w+ (?:minute|hour|second)|timer|alarm))",
    re.IGNORECASE,
)
# Where "um" is a unit: "10 um to mm", "how many um in an inch", "convert 5 mm to um".
_BEFORE_UNIT = re.compile(r"(?:\d|\b(?:many|an?|to|in|into|per|hundred|thousand|million))\s*$")
_AFTER_UNIT = re.compile(r"\s*(?:(?:to|in|into|is|are|as|equals?|per)\b|[?.!]*\s*$)")


def without_fillers(text: str) -> str:
    """Return the text without "um", "you know" and the like, except inside quotations."""

    def dropped(match: re.Match[str]) -> str:
        if match["sound"] is None:
            return match[0]
        marked = match["before"] or match["after"]
        if match["sound"].lower() == "um" and not marked:
            rest = text[match.end() :]
            if _BEFORE_UNIT.search(text, 0, match.start()) and _AFTER_UNIT.match(rest):
                return match[0]
        return " "

    if len(text) > MAX_CHARS:
        return text
    spoken = _SOUND.sub(dropped, text)
    spoken = _LIKE.sub(lambda match: match[0] if match[0][0] in _QUOTES else " ", spoken)
    return (_SPACES.sub(" ", spoken).strip(" ,") if spoken != text else text) or text


def canonical(text: str) -> str:
    """The form in which skills compare sentences; digits for number words, see above."""
    line = plain(text)
    line = _HYPHEN_AFTER_NUMBER.sub(" ", digits_for_words(line))
    line = _NUMBER_THEN_LETTERS.sub(" ", line)
    line = _MINUS_BETWEEN.sub(" - ", _OPERATOR_BETWEEN.sub(r" \1 ", line))
    line = _NOW_BETWEEN.sub("", without_courtesy(_SPACES.sub(" ", line).strip()))
    for pattern, direct in _INDIRECT:
        line = pattern.sub(direct, line)
    return line


def plain(text: str) -> str:
    """The text in lower case, without sentence punctuation and contractions."""
    line = text[:MAX_CHARS].lower()
    for pattern, replacement in (*_SYMBOLS, *_CONTRACTIONS):
        line = pattern.sub(replacement, line)
    return _PUNCTUATION.sub(" ", line)


def without_courtesy(text: str) -> str:
    """The text without "please", "could you", "hey Rubato" and the like around it."""
    before = None
    while before != text:
        before = text
        text = _COURTESY_AFTER.sub("", without_courtesy_before(text))
    return text


def without_courtesy_before(text: str) -> str:
    """Remove courtesy words only at the beginning, because the rest may be words to repeat."""
    before = None
    while before != text:
        before = text
        text = _COURTESY_BEFORE.sub("", text.strip())
    return text


def digits_for_words(text: str) -> str:
    """Number words as digits: "two point five" -> "2.5", "twenty-one" -> "21"."""
    shielded = _SECOND.sub(_SHIELD, text)
    written: str = alpha2digit(shielded, "en", 0)
    return written.replace(_SHIELD, "second")
