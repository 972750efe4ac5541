"""Words that are written alike and said differently, by their neighbours: "Record it", "a
record"; "I read it yesterday", "I will read it".

espeak looks at the word before only, and not at the head of a sentence. Invariant: the sense
depends on a few words before it in its sentence and on the next one, "" where a mark follows, None
where it is not known. It waits for more only where a rule of homographs.toml looks at them.
"""

from collections.abc import Sequence
from typing import Final

from engine.text.pronunciation import homographs
from engine.text.pronunciation.place import Place
from engine.text.tables import section, words

_MINUTE: Final = words("heteronyms", "minute")
_NOUNS: Final = words("heteronyms", "nouns")
_VERBS: Final = words("heteronyms", "verbs")
_ARTICLES: Final = words("heteronyms", "articles")
_COMMANDS: Final = words("heteronyms", "commands")
_AS: Final = section("heteronyms", "as")
_NO_VERB_BEFORE: Final = {
    word: said.split() for word, said in section("heteronyms", "no_verb_before").items()
}
_WORDS: Final = (
    frozenset(("lives", *_NOUNS, *_VERBS, *words("heteronyms", "adjectives")))
    | {f"{word}s" for word in _NOUNS | _VERBS}
    | {key.partition(" ")[0] for key in (*_AS, *homographs.SOUNDS)}
)
"""All words that have several sounds."""
_SENSES: Final = _WORDS - homographs.SINGLE
"""Those of them that are a verb and a noun or an adjective."""
_DETERMINERS: Final = words("heteronyms", "determiners")
_AUXILIARIES: Final = words("heteronyms", "auxiliaries")
_THIRD: Final = words("heteronyms", "third")
_BEING: Final = words("heteronyms", "being")
_HAVING: Final = words("heteronyms", "having")
_ADVERBS: Final = words("heteronyms", "adverbs")
_NO_ADVERBS: Final = words("heteronyms", "no_adverbs")
_OBJECTS: Final = words("heteronyms", "objects")
_PARTICLES: Final = words("heteronyms", "particles")
_FINITE: Final = words("heteronyms", "finite")
_LETTING: Final = words("heteronyms", "letting")
_NO_INFINITIVE: Final = words("heteronyms", "no_infinitive")
_PLURALS: Final = words("heteronyms", "plurals")
_NO_PLURALS: Final = words("heteronyms", "no_plurals")
_SEEMING: Final = words("heteronyms", "seeming")
_COUNTING: Final = words("heteronyms", "counting")
_PREPOSITIONS: Final = words("heteronyms", "prepositions")
_PAST: Final = words("heteronyms", "past")
_PRESENT: Final = words("heteronyms", "present")
_READ_BY_ONE: Final = words("heteronyms", "read_by_one") | {""}
_NO_READERS: Final = words("heteronyms", "no_readers")
_BEFORE_INFINITIVE: Final = words("heteronyms", "before_infinitive")
_HABITS: Final = words("heteronyms", "habits")


def sounds_like(
    before: Sequence[str], word: str, after: str | None, later: Sequence[str] = ()
) -> str:
    """Return an input for espeak whose last word sounds as this one does here; "" for a word with
    one sound, or that espeak pronounces right anyway. `before`, `later`: the words before and
    behind it, with their marks.
    """
    lower = word.lower()
    if lower not in _WORDS:
        return ""
    place = Place.of(before, after, later)
    if sense := homographs.sense(word, place):
        return _espeak_input(lower, sense)
    if lower not in _SENSES:
        return ""
    sense = _irregular_sense(word, place) or ("v" if _is_verb(lower, place) else "n")
    return _espeak_input(lower, sense)


def is_heteronym(word: str) -> bool:
    """Return whether a word has several sounds, so that it is better known what follows it."""
    return word.lower() in _WORDS


def _is_verb(word: str, place: Place) -> bool:
    """Return whether a word is a verb here."""
    if place.after in _NO_VERB_BEFORE.get(word, ()):
        return False
    if word in _VERBS:
        return not place.is_behind(_ARTICLES)
    if place.clause:
        return _commands(word, place)
    if word.endswith("s") and word[:-1] in _WORDS:
        return _verb_with_s(word, place)
    if _is_adverb(place.at(1)):
        return _is_verb(word, place.earlier())
    if place.at(1) == "to":
        return place.at(2) not in _NO_INFINITIVE or place.after in _OBJECTS
    if place.is_behind(_AUXILIARIES):
        return True
    return _verb_behind_noun(word, place)


def _commands(word: str, place: Place) -> bool:
    """Return whether the word, at the head of a sentence or a clause, is a command."""
    if place.after in _FINITE:
        return False
    if place.after in _OBJECTS:
        return True
    return word in _COMMANDS


def _verb_with_s(word: str, place: Place) -> bool:
    """Return whether a word with s is a verb ("he records"), not a noun ("the records")."""
    if place.at(1) in _THIRD:
        return True
    if place.at(1) in _DETERMINERS or place.is_behind(_BEING):
        return False
    if place.after in _OBJECTS:
        return True
    return word == "lives" and place.after in _PARTICLES and not _is_plural(place.at(1))


def _verb_behind_noun(word: str, place: Place) -> bool:
    before = place.at(1)
    if before in ("that", "which"):
        return place.after in _OBJECTS
    if before in ("me", "us", "him", "her", "them", "it"):
        return place.at(2) in _LETTING
    if before in ("and", "or", "but") or (before == "so" and place.after in _OBJECTS):
        return place.after in _OBJECTS
    if before in _DETERMINERS or place.is_behind(_BEING):
        return False
    if _is_plural(before):
        return place.after not in _FINITE
    described = place.at(2) in ("a", "an", "of")  # "a new record the club set"
    return place.after in _OBJECTS - {"that", "last", "one"} and not described


# ------------------------------------------------------------------- senses of their own


def _irregular_sense(word: str, place: Place) -> str:
    """Return the sense of a word that is more than a verb and a noun; "" if the general rules
    apply.
    """
    lower = word.lower()
    match lower:
        case "read":
            return _read(place)
        case "minute":
            return "a" if _is_tiny(place) else "n"
        case "content":
            if place.at(1) in _SEEMING:
                return "a"
            ends = place.after in ("", "with", "to", "and", "just")
            return "a" if ends and place.is_behind(_BEING - {"more", "as"}) else ""
        case "polish":
            # Of Poland unless a command opens with it.
            named = word[0].isupper() and not (place.clause and _is_verb(lower, place))
            return "n" if named else "v"
    return ""


def _is_tiny(place: Place) -> bool:
    """Return whether "minute" means very small."""
    if place.after == "":
        return place.is_behind(_BEING - {"'s"})
    if place.at(1) in _COUNTING or place.after in _MINUTE:
        return place.at(1) not in _COUNTING
    named = place.clause or place.at(1) in _DETERMINERS - _PREPOSITIONS
    return _is_plural(place.after or "") and not named


def _read(place: Place) -> str:
    subject = place.at(1)
    if place.clause:
        return "v"
    if subject in _ADVERBS:
        earlier = place.earlier()
        if earlier.is_behind(_HAVING):
            return "p"
        habit = subject in _PRESENT and earlier.at(1) in ("i", "we", "you", "they")
        return "v" if habit else _read_by(earlier)
    if place.is_behind(_HAVING):
        return "p"
    return _read_by(place)


def _read_by(place: Place) -> str:
    """Return the sense of "read" by its subject: "he read" is past, "I read" mostly is."""
    subject, inverted = place.at(1), place.at(2)
    if inverted in _HAVING:
        return "p"
    if subject in ("i", "we", "they", "you", "he", "she", "it", "who", "and"):
        return _read_by_pronoun(place)
    if inverted in ("let", "help", "make", "did", "does", "will", "can") or subject in _AUXILIARIES:
        return "v"
    if subject in _DETERMINERS or not subject:
        return "v"
    named = not inverted and subject not in _NO_READERS  # "Goethe read Descartes"
    described = inverted in ("a", "an")  # "an easy read for children"
    told = named or place.after in _OBJECTS or (place.after in _READ_BY_ONE and not described)
    infinitive = not _BEFORE_INFINITIVE.isdisjoint(place.before[-4:])
    return "p" if told and not _is_plural(subject) and not infinitive else "v"


def _read_by_pronoun(place: Place) -> str:
    subject, inverted = place.at(1), place.at(2)
    if inverted in _AUXILIARIES:
        return "v"
    if not _PAST.isdisjoint(place.before):
        return "p"
    if subject == "who" and (_is_plural(inverted) or inverted in ("those", "many")):
        return "v"
    if subject in ("he", "she", "it"):
        return "p"
    if subject == "and":
        past = any(word.endswith("ed") for word in place.before)
        return "p" if past else "v"
    usual = not _PRESENT.isdisjoint(place.before) or place.after in _HABITS
    return "v" if usual or subject == "you" else "p"


def _espeak_input(word: str, sense: str) -> str:
    """Return the input for which espeak makes the sound of this sense."""
    key = f"{word} {sense}"
    if key in homographs.SOUNDS:
        return f"[[{homographs.SOUNDS[key]}]]"
    if said := _AS.get(key, ""):
        return said
    if sense != "v":
        return f"the {word}"
    inflected = word.endswith("s") and word[:-1] in _WORDS
    return f"he {word}" if inflected else f"to {word}"


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or (word.endswith("ly") and word not in _NO_ADVERBS)


def _is_plural(word: str) -> bool:
    if word in _PLURALS:
        return True
    ends = word.endswith("s") and not word.endswith(("ss", "us", "'s"))
    return ends and len(word) > 3 and word not in _NO_PLURALS
