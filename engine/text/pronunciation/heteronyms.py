"""Words that are written alike and said differently, by what stands beside them: "Record it", "a
record"; "I read it yesterday", "I will read it".

espeak looks at the word before only, and not at the head of a sentence. Invariant: the sense
depends on a few words before it in its sentence and on the next one, "" where a mark follows, None
where it is not known; it never waits for more.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

_SENTENCE_MARKS: Final = ".?!:;"
_MARKS: Final = ".,?!:;"
_DETERMINERS: Final = frozenset(
    "the a an my your his her its our their this these those no every each some any another both "
    "what whose one two three four five first last next same other new old many few more most all "
    "such of in on for with by from at into without under over between during about like as per "
    "than through against toward towards good great big small own whole 's".split()
)
"""Behind these stands no verb."""
_AUXILIARIES: Final = frozenset(
    "to will would can could shall should may might must do does did cannot 'll 'd n't let's "
    "please i you we they who don't not".split()
)
"""Behind these stands a verb."""
_THIRD: Final = frozenset("he she it who that which everyone someone everybody nobody".split())
_BEING: Final = frozenset(
    "is are was were be been being am 'm 're 's very so too quite more most less really stay stays "
    "stayed keep kept feel feels felt seem seems seemed get gets got getting become became as "
    "perfectly remain remains".split()
)
_HAVING: Final = frozenset("have has had having 've is are was were be been being 's".split())
_ADVERBS: Final = frozenset(
    "always never often also just only usually sometimes then still simply now quickly already ever "
    "even first carefully either not".split()
)
_OBJECTS: Final = frozenset(
    "the a an my your his her its our their it them him us me this these those that all both each "
    "every some any no what how whether one two three four five everything something anything "
    "yourself and".split()
) - {"and"}
_PARTICLES: Final = frozenset(
    "with in on at to into from up out down through along over by for as off away only when until "
    "without".split()
)
_FINITE: Final = frozenset(
    "is are was were has have had will would can could may might must should does did isn't aren't "
    "wasn't of or and ' 's".split()
)
_LETTING: Final = frozenset("let make makes made help helps helped have watch see saw".split())
_NO_INFINITIVE: Final = frozenset(
    "due subject exposed leads led leading according prior response next addicted close closer "
    "compared access related resistant".split()
)
"""Behind these, "to" stands before a noun."""
_PLURALS: Final = frozenset("people children men women police feet teeth mice".split())
_NO_PLURALS: Final = frozenset(
    "sales sports news business arms series species always across its his this us is was has does "
    "class glass process thus plus perhaps yes less".split()
)
_PAST: Final = frozenset("yesterday ago already earlier once recently last finally then".split())
_PRESENT: Final = frozenset("when if whenever usually always often sometimes every never".split())
_HABITS: Final = frozenset("every books a to for lots daily aloud more".split())
_METAL: Final = frozenset(
    "pipe pipes paint paints poisoning acid acetate shot bullet bullets weight weights exposure "
    "sheet sinkers solder batteries contamination dust ore pencils glass".split()
)
_MINUTE: Final = frozenset(
    "detail details amount amounts quantities quantity traces particles differences changes "
    "fraction variations crystals".split()
)


def sounds_like(before: Sequence[str], word: str, after: str | None) -> str:
    """What espeak has to be given so that its last word sounds as this one does here; "" for a word
    that has one sound, or that it says right anyway. `before`: the words before it, with their
    marks.
    """
    lower = word.lower()
    if lower not in _words():
        return ""
    place = _Place.of(before, after)
    sense = _special(word, place) or ("v" if _verb(lower, place) else "n")
    return _said(lower, sense)


def is_heteronym(word: str) -> bool:
    """Whether a word has several sounds, so that it is better known what follows it."""
    return word.lower() in _words()


class _Place:
    """What stands beside a word, in lower case. `before`: newest last, within the sentence.
    `clause`: a comma or nothing stands directly before it. `after` None: not known yet.
    """

    def __init__(self, before: tuple[str, ...], after: str | None, *, clause: bool) -> None:
        self.before = before
        self.after = after
        self.clause = clause or not before

    @classmethod
    def of(cls, before: Sequence[str], after: str | None) -> "_Place":
        sentence: list[str] = []
        for word in reversed(before):
            if word[-1:] in _SENTENCE_MARKS and word:
                break
            sentence.insert(0, word.lower().replace("’", "'"))  # noqa: RUF001
        clause = bool(sentence) and sentence[-1].endswith(",")
        following = None if after is None else after.strip(_MARKS).lower().replace("’", "'")  # noqa: RUF001
        return cls(tuple(word.rstrip(_MARKS) for word in sentence), following, clause=clause)

    def at(self, distance: int) -> str:
        """The word so far before it, 1 = directly; "" where the sentence begins."""
        return self.before[-distance] if len(self.before) >= distance else ""

    def earlier(self) -> "_Place":
        """The same place, as if the word directly before were not there."""
        return _Place(self.before[:-1], self.after, clause=False)

    def is_behind(self, words: frozenset[str]) -> bool:
        """Whether one of the words, or one that ends like its contraction, stands before it."""
        word = self.at(1)
        return word in words or any(word.endswith(end) for end in words if "'" in end)


def _verb(word: str, place: _Place) -> bool:
    """Whether a word is a verb here."""
    if place.after in _no_verb_before().get(word, ()):
        return False
    if place.clause:
        return _commands(word, place)
    if word.endswith("s") and word[:-1] in _words():
        return _verb_with_s(word, place)
    if place.at(1) in _ADVERBS:
        return _verb(word, place.earlier())
    if place.at(1) == "to":
        return place.at(2) not in _NO_INFINITIVE
    if place.is_behind(_AUXILIARIES):
        return True
    return _verb_behind_noun(word, place)


def _commands(word: str, place: _Place) -> bool:
    """At the head of a sentence or a clause."""
    if place.after in _FINITE:
        return False
    if place.after in _OBJECTS:
        return True
    return word in _lists()["commands"]


def _verb_with_s(word: str, place: _Place) -> bool:
    """He records, the records"""
    if place.at(1) in _THIRD:
        return True
    if place.at(1) in _DETERMINERS or place.is_behind(_BEING):
        return False
    if place.after in _OBJECTS:
        return True
    return word == "lives" and place.after in _PARTICLES and not _is_plural(place.at(1))


def _verb_behind_noun(word: str, place: _Place) -> bool:
    before = place.at(1)
    if before in ("that", "which"):
        return place.after in _OBJECTS
    if before in ("me", "us", "him", "her", "them", "it"):
        return place.at(2) in _LETTING
    if before in ("and", "or", "but"):
        return place.after in _OBJECTS
    if before in _DETERMINERS or place.is_behind(_BEING):
        return False
    if _is_plural(before):
        return place.after not in _FINITE
    return place.after in _OBJECTS - {"that", "last", "one"} and not _described(place)


def _described(place: _Place) -> bool:
    """Whether the word before belongs to it: "a new record the club set"."""
    return place.at(2) in ("a", "an", "of")


def _is_plural(word: str) -> bool:
    if word in _PLURALS:
        return True
    ends = word.endswith("s") and not word.endswith(("ss", "us", "'s"))
    return ends and len(word) > 3 and word not in _NO_PLURALS


# ------------------------------------------------------------------- senses of their own


def _special(word: str, place: _Place) -> str:
    """The sense of words that are more than a verb and a noun; "" where the general rules hold."""
    lower = word.lower()
    match lower:
        case "read":
            return _read(place)
        case "lead":
            return _lead(place)
        case "minute":
            return _minute(place)
        case "content":
            ends = place.after in ("", "with", "to", "and", "just")
            return "a" if ends and place.is_behind(_BEING - {"more", "as"}) else ""
        case "polish":
            # Of Poland unless a command opens with it.
            named = word[0].isupper() and not (place.clause and _verb(lower, place))
            return "n" if named else "v"
        case "dove" | "wound":
            goes_on = place.after in ("into", "in", "off", "down", "under", "up", "around")
            return "p" if goes_on and place.at(1) not in _DETERMINERS else "n"
    return ""


def _read(place: _Place) -> str:
    subject = place.at(1)
    if place.clause:
        return "v"
    if subject in _ADVERBS:
        return "p" if place.earlier().is_behind(_HAVING) else _read_by(place.earlier())
    if place.is_behind(_HAVING):
        return "p"
    return _read_by(place)


def _read_by(place: _Place) -> str:
    """By who reads: "he read" is past, "I read" mostly is."""
    subject, inverted = place.at(1), place.at(2)
    if inverted in _HAVING:
        return "p"
    if subject in ("i", "we", "they", "you", "he", "she", "it", "who", "and"):
        return _read_by_pronoun(place)
    if inverted in ("let", "help", "make", "did", "does", "will", "can") or subject in _AUXILIARIES:
        return "v"
    if subject in _DETERMINERS or not subject:
        return "v"
    told = place.after in _OBJECTS or place.after in ("", "about", "from", "out", "aloud")
    return "p" if told and not _is_plural(subject) and "to" not in place.before[-3:] else "v"


def _read_by_pronoun(place: _Place) -> str:
    subject, inverted = place.at(1), place.at(2)
    if inverted in _AUXILIARIES:
        return "v"
    if not _PAST.isdisjoint(place.before):
        return "p"
    if subject in ("he", "she", "it"):
        return "p"
    if subject == "and":
        past = any(word.endswith("ed") for word in place.before)
        return "p" if past else "v"
    usual = not _PRESENT.isdisjoint(place.before) or place.after in _HABITS
    return "v" if usual or subject == "you" else "p"


def _lead(place: _Place) -> str:
    metal = place.after in _METAL or place.at(1) in ("of", "contains", "contain")
    in_it = place.at(1) in ("with", "from") and place.after in ("", "in", "is", "and")
    is_it = place.clause and place.after in ("is", "was")
    return "n" if metal or in_it or is_it else "v"


def _minute(place: _Place) -> str:
    if place.after in _MINUTE:
        return "a"
    return "a" if place.after == "" and place.is_behind(_BEING - {"'s"}) else "n"


# --------------------------------------------------------------------------- the table


@cache
def _table() -> Mapping[str, Any]:
    file = resources.files("engine.text.pronunciation") / "heteronyms.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _lists() -> dict[str, frozenset[str]]:
    return {
        name: frozenset(_table()[name].split()) for name in ("nouns", "adjectives", "commands")
    }


@cache
def _no_verb_before() -> dict[str, frozenset[str]]:
    return {word: frozenset(said.split()) for word, said in _table()["no_verb_before"].items()}


@cache
def _words() -> frozenset[str]:
    """All words that have several sounds."""
    bases = _lists()["nouns"] | _lists()["adjectives"]
    others = {key.partition(" ")[0] for key in _table()["as"]}
    return bases | {f"{word}s" for word in _lists()["nouns"]} | {"lives"} | others


def _said(word: str, sense: str) -> str:
    """What espeak says so."""
    said: str = _table()["as"].get(f"{word} {sense}", "")
    if said:
        return said
    if sense != "v":
        return f"the {word}"
    inflected = word.endswith("s") and word[:-1] in _words()
    return f"he {word}" if inflected else f"to {word}"
