"""Spelling a word, letter by letter.

Invariant: letters are answered as capitals with commas between, so that nothing downstream can
read the letter "A" as the article.
"""

import re

from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.fillings import is_change_of_subject, is_word, word_set
from engine.llm.skills.matching.intent import Occasion, Slots
from engine.llm.skills.matching.quantities import counted
from engine.text.unit_table import UNITS

MAX_WORDS = 4  # more are a list that nobody can follow letter by letter

_EDGE = r"[\s\"'\u201c\u201d\u2018\u2019:,.!?-]+"
_EDGES = re.compile(f"^{_EDGE}|{_EDGE}$")
_ENUMERATED = re.compile(r",?\s+and\s+|,\s*")
_LANGUAGES = word_set("languages")
_UNITS = frozenset(form for unit in UNITS for form in unit.forms)
_NAMED = {"'": "apostrophe", "\u2019": "apostrophe", "-": "hyphen", ".": "dot", "_": "underscore"}


def spell(slots: Slots, _occasion: Occasion) -> Slots:
    words = [word for each in _enumerated(slots["word"]) for word in each.split()]
    letters = ((_NAMED.get(letter, letter.upper()) for letter in word) for word in words)
    return {"spelled": "; ".join(map(", ".join, letters))}


def another_word(_before: Slots, now: Slots, _occasion: Occasion) -> Slots | None:
    return None if is_change_of_subject(_bare(now["word"])) else now


def count_letters(slots: Slots, _occasion: Occasion) -> Slots | None:
    word = _bare(slots["word"])
    if word.lower() in _LANGUAGES:
        return None
    letters = sum(map(str.isalpha, word))
    if not letters or len(word.split()) > 1:
        return None
    return {"word": word, "letters": counted(letters, "letter")}


def count_letter(slots: Slots, _occasion: Occasion) -> Slots | None:
    """How often a letter occurs in a word."""
    letter, word = _bare(slots["letter"]), _bare(slots["word"])
    if len(letter) > 1:
        letter = letter.removesuffix("s").rstrip("'")
    if len(letter) != 1 or not letter.isalpha() or len(word.split()) != 1:
        return None
    if {letter.lower(), word.lower()} <= _UNITS:  # "how many m in km"
        return None
    count = word.casefold().count(letter.casefold())
    return {"word": word, "letters": counted(count, letter.upper())}


def is_spelled(said: str) -> bool:
    words = _enumerated(said)
    return 0 < len(words) <= MAX_WORDS and all(map(is_word, words))


def _enumerated(said: str) -> list[str]:
    bare = _bare(said)
    return _ENUMERATED.split(bare) if "," in bare else [bare]


def _bare(word: str) -> str:
    return _EDGES.sub("", without_courtesy(_EDGES.sub("", word)))
