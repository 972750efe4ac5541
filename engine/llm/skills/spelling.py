"""Spelling a word, letter by letter.

Invariant: letters are answered as capitals with commas between, so that nothing downstream can
read the letter "A" as the article.
"""

import re

from engine.llm.skills.matching.canonical import without_courtesy
from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Slots, Tool

MAX_WORDS = 4  # more is a sentence, and nobody follows it letter by letter

_EDGE = r"[\s\"'\u201c\u201d\u2018\u2019:,.!?-]+"
_EDGES = re.compile(f"^{_EDGE}|{_EDGE}$")
_NAMED = {"'": "apostrophe", "\u2019": "apostrophe", "-": "hyphen", ".": "dot", "_": "underscore"}


def spell(slots: Slots, _occasion: Occasion) -> Answer | None:
    words = _bare(slots["word"]).split()
    if not words or len(words) > MAX_WORDS:
        return None
    spelled = "; ".join(", ".join(_character(c) for c in word) for word in words)
    return Answer(f"{spelled}.")


def count_letters(slots: Slots, _occasion: Occasion) -> Answer | None:
    word = _bare(slots["word"])
    letters = sum(character.isalpha() for character in word)
    if not letters or len(word.split()) > 1:
        return None
    return Answer(f'"{word}" has {letters} letter{"" if letters == 1 else "s"}.')


def _bare(word: str) -> str:
    return _EDGES.sub("", without_courtesy(_EDGES.sub("", word)))


def _character(character: str) -> str:
    return _NAMED.get(character, character.upper())


FAMILY = Family(
    intents=(
        Intent(
            "spell",
            (
                "spell [out] [the] [word|words|name] {word}",
                "how (do you|do i|to|is) (spell|spelled) [the] [word|name] {word}",
                "how is {word} (spelled|spelt|written)",
                "(what is|what's) the spelling of {word}",
            ),
            spell,
            verbatim=True,
        ),
        Intent(
            "count letters",
            (
                "how many letters (are|are there) in [the] [word] {word}",
                "how many letters does [the] [word] {word} have",
            ),
            count_letters,
            verbatim=True,
        ),
    ),
    tools=(Tool("spell", "Spell a word letter by letter.", spell, {"word": "the word to spell"}),),
    open_lists={
        "word": (
            "necessary",
            "rhythm",
            "beautiful",
            "accommodate",
            "separate",
            "definitely",
            "receive",
            "restaurant",
            "calendar",
            "business",
            "government",
            "february",
            "neighbor",
            "schedule",
            "vacuum",
            "wednesday",
            "weird",
            "yacht",
        ),
    },
)
