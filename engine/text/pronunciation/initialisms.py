"""Words in capitals: which are spelled letter by letter, and which are said as words.

espeak decides that anew in every clause, by how many of its letters are capitals. Invariant: here
it depends on the word alone, and for the few that are words as well, on the capitals beside it.
"""

import re
from functools import lru_cache
from typing import Final

from engine.text.tables import section, words

_CAPITALS: Final = re.compile(r"([a-z]?)([A-Z]{2,})")  # iOS, mRNA
_SHOUTED: Final = re.compile(r"[A-Z]+['’][A-Z]+")
_SPELLED: Final = re.compile(r"((?:(?:[A-Z]|eh)-)+(?:[A-Z]|eh))('s)?")
_ENDING: Final = re.compile(r"(.*[A-Z])(?:['’][sS]|s)")
_TITLE_CASE: Final = frozenset(("As", "Is", "Us"))  # words, not plurals of a letter as Ls is
_LONGEST: Final = 4  # letters of an abbreviation that no list has
_VOWEL: Final = re.compile("[AEIOUY]")
_ODD_START: Final = re.compile(
    "(?!B[LR]|C[HLRZ]|D[RW]|F[LR]|G[HLNR]|K[HLNR]|LL|MN|P[FHLNRST]|RH|S[CHKLMNPQTVW]|T[HRSW]|VL"
    "|W[HR]|ZH)[BCDFGHJKLMNPQRSTVWXZ]{2}|[AIU]{2}"
)
_SAID, _SPELLED_OUT, _WORDS, _EITHER = (
    frozenset(word.upper() for word in words("initialisms", name))
    for name in ("said", "spelled", "words", "either")
)
_SAID_AS: Final = section("initialisms", "as")
_GOVERNORS: Final = frozenset("THE A AN OUR YOUR THEIR".split())
"""Behind these IT and US are no pronouns."""


def is_either(word: str) -> bool:
    """Return whether the neighbours decide if the word is an abbreviation: IT, US."""
    return word in _EITHER


def respelled(word: str, before: str = "", after: str = "") -> str:
    """Return espeak's input for a word without its punctuation, between its neighbours: AWS becomes
    eh-W-S (an A would be the article), NASA becomes nasa.
    """
    if word.islower() or len(word) < 2:
        return word
    if is_either(word) and is_word(word, before, after):
        return word.lower()
    return "-".join(map(_respelled, word.split("-"))) if "-" in word else _respelled(word)


def spelled(part: str) -> str:
    """Return the letters of a part of a word that is spelled; "" if it is said as a word."""
    match = _CAPITALS.fullmatch(part)
    if not match or _is_said(match[2]) or part in _SAID_AS:
        return ""
    return match[2]


def letters(text: str) -> tuple[str, str] | None:
    """Return the letters and the ending of respelled()'s result; None if it has other parts."""
    match = _SPELLED.fullmatch(text)
    return (match[1].replace("eh", "A").replace("-", ""), match[2] or "") if match else None


@lru_cache(maxsize=4096)
def _respelled(part: str) -> str:
    """Return espeak's input for a part between hyphens."""
    if part == "A":
        return "eh"
    if part in _TITLE_CASE:
        return part
    match = _ENDING.fullmatch(part)
    base, ending = (match[1], "'s") if match else (part, "")
    if said := _SAID_AS.get(base):
        return said + ending
    capitals = _CAPITALS.fullmatch(base)
    if len(base) == 1 or (not capitals and not _SHOUTED.fullmatch(part)):
        return base + ending if ending else part
    if not capitals or (is_either(base) and part.isupper() and ending):
        return part.lower()  # DON'T, IT'S
    if spelled(base):
        return "-".join("eh" if letter == "A" else letter for letter in base.upper()) + ending
    return f"{capitals[1].upper()}-{capitals[2].lower()}".lstrip("-") + ending


def is_word(word: str, before: str, after: str) -> bool:
    """Return whether a form that may be a word or an abbreviation is a word here."""
    if (word == "AM" and "I" in (before, after)) or (word, after) == ("WHO", "AM"):
        return True
    emphasised = (  # words in capitals, and no abbreviations
        len(beside) > 1 and beside.isalpha() and beside.isupper() and _is_said(beside)
        for beside in (before, after)
    )
    return before not in _GOVERNORS and any(emphasised)


def _is_said(capitals: str) -> bool:
    """Return whether capitals are said as a word."""
    if capitals in _SAID or capitals in _WORDS:
        return True
    if len(capitals) <= _LONGEST or capitals in _SPELLED_OUT:
        return False
    return bool(_VOWEL.search(capitals)) and not _ODD_START.match(capitals)
