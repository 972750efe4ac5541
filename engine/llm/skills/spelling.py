"""Spelling a word, letter by letter.

Invariant: letters are answered as capitals with commas between, so that nothing downstream can
read the letter "A" as the article.
"""

import re

from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.fillings import is_change_of_subject, is_word
from engine.llm.skills.matching.intent import SkillContext, Slots

MAX_WORDS = 4  # more are hard to follow letter by letter

_EDGE = r"[\s\"'\u201c\u201d\u2018\u2019:,.!?-]+"
_EDGES = re.compile(f"^{_EDGE}|{_EDGE}$")
_ENUMERATED = re.compile(r",?\s+and\s+|,\s*")
_NAMED = {"'": "apostrophe", "\u2019": "apostrophe", "-": "hyphen", ".": "dot", "_": "underscore"}


def spell(slots: Slots, _context: SkillContext) -> Slots:
    words = [word for each in _enumerated(slots["word"]) for word in each.split()]
    letters = ((_NAMED.get(letter, letter.upper()) for letter in word) for word in words)
    return {"spelled": "; ".join(map(", ".join, letters))}


def another_word(_before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    return None if is_change_of_subject(_bare(now["word"])) else now


def is_spelled(said: str) -> bool:
    words = _enumerated(said)
    return 0 < len(words) <= MAX_WORDS and all(map(is_word, words))


def _enumerated(said: str) -> list[str]:
    bare = _bare(said)
    return _ENUMERATED.split(bare) if "," in bare else [bare]


def _bare(word: str) -> str:
    return _EDGES.sub("", without_courtesy(_EDGES.sub("", word)))
