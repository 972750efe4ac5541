"""Words that are written alike and said differently, by what stands beside them: "Record it", "a
record"; "I read it yesterday", "I will read it".

espeak looks at the word before only, and not at the head of a sentence. Invariant: the sense
depends on a few words before it in its sentence and on the next one, "" where a mark follows, None
where it is not known; it never waits for more.
"""

from collections.abc import Sequence
from typing import Final

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
from engine.text.tables import section, words

_METAL: Final = words("heteronyms", "metal")
_MINUTE: Final = words("heteronyms", "minute")
_NOUNS: Final = words("heteronyms", "nouns")
_COMMANDS: Final = words("heteronyms", "commands")
_AS: Final = section("heteronyms", "as")
_NO_VERB_BEFORE: Final = {
    word: said.split() for word, said in section("heteronyms", "no_verb_before").items()
}
_WORDS: Final = frozenset(
    ("lives", *_NOUNS, *words("heteronyms", "adjectives"), *(f"{word}s" for word in _NOUNS))
) | {key.partition(" ")[0] for key in _AS}
"""All words that have several sounds."""


def sounds_like(before: Sequence[str], word: str, after: str | None) -> str:
    """What espeak has to be given so that its last word sounds as this one does here; "" for a word
    that has one sound, or that it says right anyway. `before`: the words before it, with their
    marks.
    """
    lower = word.lower()
    if lower not in _WORDS:
        return ""
    place = Place.of(before, after)
    sense = _special(word, place) or ("v" if _verb(lower, place) else "n")
    return _said(lower, sense)


def is_heteronym(word: str) -> bool:
    """Whether a word has several sounds, so that it is better known what follows it."""
    return word.lower() in _WORDS


def _verb(word: str, place: Place) -> bool:
    """Whether a word is a verb here."""
    if place.after in _NO_VERB_BEFORE.get(word, ()):
        return False
    if place.clause:
        return _commands(word, place)
    if word.endswith("s") and word[:-1] in _WORDS:
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
    return word in _COMMANDS


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
    described = place.at(2) in ("a", "an", "of")  # "a new record the club set"
    return place.after in OBJECTS - {"that", "last", "one"} and not described


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
            ends = place.after == "" and place.is_behind(BEING - {"'s"})
            return "a" if ends or place.after in _MINUTE else "n"
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


def _said(word: str, sense: str) -> str:
    """What espeak says so."""
    if said := _AS.get(f"{word} {sense}", ""):
        return said
    if sense != "v":
        return f"the {word}"
    inflected = word.endswith("s") and word[:-1] in _WORDS
    return f"he {word}" if inflected else f"to {word}"
