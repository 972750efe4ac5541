"""Words that are written alike and said differently, by what stands beside them: "Record it", "a
record"; "I read it yesterday", "I will read it".

espeak looks at the word before only, and not at the head of a sentence. Invariant: the sense
depends on a few words before it in its sentence and on the next one, "" where a mark follows, None
where it is not known; it never waits for more.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from engine.resources import table
from engine.text.pronunciation.neighbours import (
    ADVERBS,
    AUXILIARIES,
    BEING,
    DETERMINERS,
    FINITE,
    HABITS,
    HAVING,
    LETTING,
    NO_INFINITIVE,
    OBJECTS,
    PARTICLES,
    PAST,
    PRESENT,
    THIRD,
    Place,
    is_plural,
)

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
    place = Place.of(before, after)
    sense = _special(word, place) or ("v" if _verb(lower, place) else "n")
    return _said(lower, sense)


def is_heteronym(word: str) -> bool:
    """Whether a word has several sounds, so that it is better known what follows it."""
    return word.lower() in _words()


def _verb(word: str, place: Place) -> bool:
    """Whether a word is a verb here."""
    if place.after in _no_verb_before().get(word, ()):
        return False
    if place.clause:
        return _commands(word, place)
    if word.endswith("s") and word[:-1] in _words():
        return _verb_with_s(word, place)
    if place.at(1) in ADVERBS:
        return _verb(word, place.earlier())
    if place.at(1) == "to":
        return place.at(2) not in NO_INFINITIVE
    if place.is_behind(AUXILIARIES):
        return True
    return _verb_behind_noun(word, place)


def _commands(word: str, place: Place) -> bool:
    """At the head of a sentence or a clause."""
    if place.after in FINITE:
        return False
    if place.after in OBJECTS:
        return True
    return word in _lists()["commands"]


def _verb_with_s(word: str, place: Place) -> bool:
    """He records, the records"""
    if place.at(1) in THIRD:
        return True
    if place.at(1) in DETERMINERS or place.is_behind(BEING):
        return False
    if place.after in OBJECTS:
        return True
    return word == "lives" and place.after in PARTICLES and not is_plural(place.at(1))


def _verb_behind_noun(word: str, place: Place) -> bool:
    before = place.at(1)
    if before in ("that", "which"):
        return place.after in OBJECTS
    if before in ("me", "us", "him", "her", "them", "it"):
        return place.at(2) in LETTING
    if before in ("and", "or", "but") or (before == "so" and place.after in OBJECTS):
        return place.after in OBJECTS
    if before in DETERMINERS or place.is_behind(BEING):
        return False
    if is_plural(before):
        return place.after not in FINITE
    return place.after in OBJECTS - {"that", "last", "one"} and not _described(place)


def _described(place: Place) -> bool:
    """Whether the word before belongs to it: "a new record the club set"."""
    return place.at(2) in ("a", "an", "of")


# ------------------------------------------------------------------- senses of their own


def _special(word: str, place: Place) -> str:
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
            return "a" if ends and place.is_behind(BEING - {"more", "as"}) else ""
        case "polish":
            # Of Poland unless a command opens with it.
            named = word[0].isupper() and not (place.clause and _verb(lower, place))
            return "n" if named else "v"
        case "dove" | "wound":
            goes_on = place.after in ("into", "in", "off", "down", "under", "up", "around")
            return "p" if goes_on and place.at(1) not in DETERMINERS else "n"
    return ""


def _read(place: Place) -> str:
    subject = place.at(1)
    if place.clause:
        return "v"
    if subject in ADVERBS:
        earlier = place.earlier()
        if earlier.is_behind(HAVING):
            return "p"
        habit = subject in PRESENT and earlier.at(1) in ("i", "we", "you", "they")
        return "v" if habit else _read_by(earlier)
    if place.is_behind(HAVING):
        return "p"
    return _read_by(place)


def _read_by(place: Place) -> str:
    """By who reads: "he read" is past, "I read" mostly is."""
    subject, inverted = place.at(1), place.at(2)
    if inverted in HAVING:
        return "p"
    if subject in ("i", "we", "they", "you", "he", "she", "it", "who", "and"):
        return _read_by_pronoun(place)
    if inverted in ("let", "help", "make", "did", "does", "will", "can") or subject in AUXILIARIES:
        return "v"
    if subject in DETERMINERS or not subject:
        return "v"
    told = place.after in OBJECTS or place.after in ("", "about", "from", "out", "aloud")
    return "p" if told and not is_plural(subject) and "to" not in place.before[-3:] else "v"


def _read_by_pronoun(place: Place) -> str:
    subject, inverted = place.at(1), place.at(2)
    if inverted in AUXILIARIES:
        return "v"
    if not PAST.isdisjoint(place.before):
        return "p"
    if subject in ("he", "she", "it"):
        return "p"
    if subject == "and":
        past = any(word.endswith("ed") for word in place.before)
        return "p" if past else "v"
    usual = not PRESENT.isdisjoint(place.before) or place.after in HABITS
    return "v" if usual or subject == "you" else "p"


def _lead(place: Place) -> str:
    metal = place.after in _METAL or place.at(1) in ("of", "contains", "contain")
    in_it = place.at(1) in ("with", "from") and place.after in ("", "in", "is", "and")
    is_it = place.clause and place.after in ("is", "was")
    return "n" if metal or in_it or is_it else "v"


def _minute(place: Place) -> str:
    if place.after in _MINUTE:
        return "a"
    return "a" if place.after == "" and place.is_behind(BEING - {"'s"}) else "n"


# --------------------------------------------------------------------------- the table


def _table() -> Mapping[str, Any]:
    return table("pronunciation", "heteronyms.toml")


@cache
def _lists() -> dict[str, frozenset[str]]:
    return {name: frozenset(_table()[name].split()) for name in ("nouns", "adjectives", "commands")}


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
