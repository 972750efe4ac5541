"""The words beside a word, and what those that are common say of it: behind "the" stands no verb.

Invariant: all words of the lists are in lower case, with straight apostrophes; a contraction stands
for all that end like it.
"""

from collections.abc import Sequence
from typing import Final

from engine.text.tables import words

_SENTENCE_MARKS: Final = ".?!:;"
_MARKS: Final = ".,?!:;"
DETERMINERS: Final = words("neighbours", "determiners")
AUXILIARIES: Final = words("neighbours", "auxiliaries")
THIRD: Final = words("neighbours", "third")
BEING: Final = words("neighbours", "being")
HAVING: Final = words("neighbours", "having")
ADVERBS: Final = words("neighbours", "adverbs")
OBJECTS: Final = words("neighbours", "objects")
PARTICLES: Final = words("neighbours", "particles")
FINITE: Final = words("neighbours", "finite")
LETTING: Final = words("neighbours", "letting")
NO_INFINITIVE: Final = words("neighbours", "no_infinitive")
_PLURALS: Final = words("neighbours", "plurals")
_NO_PLURALS: Final = words("neighbours", "no_plurals")
PAST: Final = words("neighbours", "past")
PRESENT: Final = words("neighbours", "present")
HABITS: Final = words("neighbours", "habits")


class Place:
    """What stands beside a word, in lower case. `before`: newest last, within the sentence.
    `clause`: a comma or nothing stands directly before it. `after` None: not known yet.
    """

    def __init__(self, before: tuple[str, ...], after: str | None, *, clause: bool) -> None:
        self.before = before
        self.after = after
        self.clause = clause or not before

    @classmethod
    def of(cls, before: Sequence[str], after: str | None) -> "Place":
        sentence: list[str] = []
        for word in reversed(before):
            if word[-1:] in _SENTENCE_MARKS and word:
                break
            sentence.insert(0, word.lower().replace("’", "'"))
        clause = bool(sentence) and sentence[-1].endswith(",")
        following = None if after is None else after.strip(_MARKS).lower().replace("’", "'")
        return cls(tuple(word.rstrip(_MARKS) for word in sentence), following, clause=clause)

    def at(self, distance: int) -> str:
        """The word so far before it, 1 = directly; "" where the sentence begins."""
        return self.before[-distance] if len(self.before) >= distance else ""

    def earlier(self) -> "Place":
        """The same place, as if the word directly before were not there."""
        return Place(self.before[:-1], self.after, clause=False)

    def is_behind(self, words: frozenset[str]) -> bool:
        """Whether one of the words, or one that ends like its contraction, stands before it."""
        word = self.at(1)
        return word in words or any(word.endswith(end) for end in words if "'" in end)


def is_plural(word: str) -> bool:
    if word in _PLURALS:
        return True
    ends = word.endswith("s") and not word.endswith(("ss", "us", "'s"))
    return ends and len(word) > 3 and word not in _NO_PLURALS
