"""The words beside a word, and what those that are common say of it: behind "the" stands no verb.

Invariant: all words of the lists are in lower case, with straight apostrophes; a contraction stands
for all that end like it.
"""

from collections.abc import Sequence
from typing import Final

_SENTENCE_MARKS: Final = ".?!:;"
_MARKS: Final = ".,?!:;"
DETERMINERS: Final = frozenset(
    "the a an my your his her its our their this these those no every each some any another both "
    "what whose one two three four five first last next same other new old many few more most all "
    "such of in on for with by from at into without under over between during about like as per "
    "than through against toward towards good great big small own whole 's".split()
)
"""Behind these stands no verb."""
AUXILIARIES: Final = frozenset(
    "to will would can could shall should may might must do does did cannot 'll 'd n't let's "
    "please i you we they who don't not".split()
)
"""Behind these stands a verb."""
THIRD: Final = frozenset("he she it who that which everyone someone everybody nobody".split())
BEING: Final = frozenset(
    "is are was were be been being am 'm 're 's very so too quite more most less really stay stays "
    "stayed keep kept feel feels felt seem seems seemed get gets got getting become became as "
    "perfectly remain remains".split()
)
HAVING: Final = frozenset("have has had having 've is are was were be been being 's".split())
ADVERBS: Final = frozenset(
    "always never often also just only usually sometimes then still simply now quickly already "
    "ever even first carefully either not".split()
)
OBJECTS: Final = frozenset(
    "the a an my your his her its our their it them him us me this these those that all both each "
    "every some any no what how whether one two three four five everything something anything "
    "yourself".split()
)
PARTICLES: Final = frozenset(
    "with in on at to into from up out down through along over by for as off away only when until "
    "without".split()
)
FINITE: Final = frozenset(
    "is are was were has have had will would can could may might must should does did isn't aren't "
    "wasn't of or and ' 's".split()
)
LETTING: Final = frozenset("let make makes made help helps helped have watch see saw".split())
NO_INFINITIVE: Final = frozenset(
    "due subject exposed leads led leading according prior response next addicted close closer "
    "compared access related resistant".split()
)
"""Behind these, "to" stands before a noun."""
_PLURALS: Final = frozenset("people children men women police feet teeth mice".split())
_NO_PLURALS: Final = frozenset(
    "sales sports news business arms series species always across its his this us is was has does "
    "class glass process thus plus perhaps yes less".split()
)
PAST: Final = frozenset("yesterday ago already earlier once recently last finally then".split())
PRESENT: Final = frozenset("when if whenever usually always often sometimes every never".split())
HABITS: Final = frozenset("every books a to for lots daily aloud more".split())


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
