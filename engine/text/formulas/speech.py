"""A formula in LaTeX, from its first delimiter to its last, as spoken words.

Invariant: every text has a reading, and its words hold letters, hyphens and apostrophes alone, each
with at most one mark behind it; the last word has none.
"""

import re

from engine.text.formulas import parser, parts
from engine.text.rules import symbols
from engine.text.rules.numbers import NUMBER

_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_PLAIN = re.compile(rf"[-+]?(?:{NUMBER})(?:\\?%|°)?|°")
_DEGREES = re.compile(r"\^(?:\\circ|\{\\circ\})")
_MARKS = ",;:"


def inner(formula: str) -> str:
    """Return the text between the delimiters; the entire text if it has none."""
    for opening, closing in _DELIMITERS:
        if formula.startswith(opening) and formula.endswith(closing):
            return formula[len(opening) : -len(closing)].strip()
    return formula


def as_text(formula: str) -> str:
    """Return a formula that is only a number or degrees as ordinary text; "" for any other
    formula.
    """
    text = _DEGREES.sub("°", inner(formula).replace("{,}", ","))
    return text.replace("\\", "") if _PLAIN.fullmatch(text) else ""


def words(formula: str) -> list[str]:
    """Return the spoken words of a formula; there may be none."""
    said: list[str] = []
    for word in parts.words(parser.read(inner(formula))):
        body = word.rstrip(_MARKS)
        letters = symbols.speakable_letters(body)
        if letters:
            said.append(letters + word[len(body) :][:1])
        elif said and word[len(body) :]:
            said[-1] = said[-1].rstrip(_MARKS) + word[-1]
    if said:
        said[-1] = said[-1].rstrip(_MARKS)
    return said
