"""Words that are written alike and said differently, by their neighbours: "Record it", "a
record"; "I read it yesterday", "I will read it".

espeak looks at the word before only, and not at the head of a sentence. Invariant: the sense
depends on a few words before it in its sentence and on the next one, "" where a mark follows, None
where it is not known. It waits for more only where a rule of resources/text/homographs.toml looks
at them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from engine.resources import table
from engine.text.tables import section, words

_SENTENCE_MARKS: Final = ".?!:;"
_MARKS: Final = ".,?!:;"
_AS: Final = section("heteronyms", "as")
_NO_VERB_BEFORE: Final = {
    word: said.split() for word, said in section("heteronyms", "no_verb_before").items()
}
_LISTS: Final = {
    name: words("heteronyms", name)
    for name, value in table("text", "heteronyms.toml").items()
    if isinstance(value, str)
}
"""Words with several sounds ("nouns", "verbs"), and words beside them ("determiners")."""

SOUNDS: Final = section("homographs", "sounds")
"""Espeak's mnemonics of a word in a sense: "bass f"."""
_RULES: Final[dict[str, list[dict[str, Any]]]] = table("text", "homographs.toml")["rules"]
# Words whose rules say all there is: where none holds, espeak is right.
_SINGLE: Final = frozenset(
    word
    for word in _RULES
    if not {f"{word} v", f"{word} n"} & SOUNDS.keys()
    and not {word, word.removesuffix("s")} & (_LISTS["nouns"] | _LISTS["adjectives"])
)
REACH: Final = 5
"""So many words behind a word may decide its sense, unless its rule has another "reach"."""
_TOWN_BEFORE: Final = frozenset(
    "in to from near of at around outside visit visited via leave left through for".split()
)
_WORDS: Final = (
    frozenset(("lives", *_LISTS["nouns"], *_LISTS["verbs"], *_LISTS["adjectives"]))
    | {f"{word}s" for word in _LISTS["nouns"] | _LISTS["verbs"]}
    | {key.partition(" ")[0] for key in (*_AS, *SOUNDS)}
)
"""All words that have several sounds."""


class Place:
    """The neighbours of a word, in lower case. `before`: newest last, within the sentence.
    `clause`: a comma or nothing stands directly before it. `after` None: not known yet. `later`:
    the words behind it as far as they are known, "." where the sentence ends.
    """

    def __init__(self, before: Sequence[str], after: str | None, later: Sequence[str] = ()) -> None:
        """From the words of a text with their marks."""
        sentence: list[str] = []
        for word in reversed(before):
            if word[-1:] in _SENTENCE_MARKS and word:
                break
            sentence.insert(0, _plain(word))
        self.clause = not sentence or sentence[-1].endswith(",")
        self.before = tuple(word.rstrip(_MARKS) for word in sentence)
        self.after = None if after is None else _plain(after.strip(_MARKS))
        ends = [
            number for number, word in enumerate(later, 1) if word[-1:] in tuple(_SENTENCE_MARKS)
        ]
        known = [word.rstrip(_MARKS).lower() for word in later[: ends[0] if ends else None]]
        self.later = (*known, ".") if ends else tuple(known)

    def at(self, distance: int) -> str:
        """Return the word `distance` words before (1 = its neighbour); "" before the sentence."""
        return self.before[-distance] if len(self.before) >= distance else ""

    def earlier(self) -> "Place":
        """Return the place without the word directly before."""
        return Place(self.before[:-1], self.after)

    def is_behind(self, words: frozenset[str]) -> bool:
        """Return whether one of the words, or one that ends like its contraction, stands before."""
        word = self.at(1)
        return word in words or any(word.endswith(end) for end in words if "'" in end)


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")


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
    place = Place(before, after, later)
    holding = (str(rule["sense"]) for rule in _RULES.get(lower, ()) if _holds(rule, word, place))
    sense = next(holding, "")
    noun_only = lower in _RULES and f"{lower} n" in SOUNDS and f"{lower} v" not in SOUNDS
    if not sense and noun_only:
        sense = "n"
    if not sense and lower in _SINGLE:
        return ""
    sense = sense or _irregular_sense(word, place) or ("v" if _is_verb(lower, place) else "n")
    return _espeak_input(lower, sense)


def is_heteronym(word: str) -> bool:
    """Return whether a word has several sounds, so that it is better known what follows it."""
    return word.lower() in _WORDS


def _espeak_input(word: str, sense: str) -> str:
    """Return the input for which espeak makes the sound of this sense."""
    key = f"{word} {sense}"
    if key in SOUNDS:
        return f"[[{SOUNDS[key]}]]"
    if said := _AS.get(key, ""):
        return said
    if sense != "v":
        return f"the {word}"
    inflected = word.endswith("s") and word[:-1] in _WORDS
    return f"he {word}" if inflected else f"to {word}"


# --------------------------------------------------------- senses by the rules of the table


def waits(before: Sequence[str], word: str, after: str, later: Sequence[str]) -> bool:
    """Return whether words behind those of `later` may decide how a word is said."""
    place = Place(before, after, later)
    for rule in _RULES.get(word.lower(), ()):
        if _holds(rule, word, place):
            return False
        known = "." in place.later or len(place.later) >= rule.get("reach", REACH)
        others = {key: wanted for key, wanted in rule.items() if key != "later"}
        if "later" in rule and not known and _holds(others, word, place):
            return True
    return False


def _holds(rule: Mapping[str, Any], word: str, place: Place) -> bool:
    beside = {"before": place.at(1), "second": place.at(2), "after": place.after}
    some = {"earlier": place.before, "later": place.later[: rule.get("reach", REACH)]}
    conditions = {
        "clause": place.clause,
        "lower": word.islower(),
        "upper": word.istitle(),
        "place": word.istitle() and not place.clause and place.at(1) in _TOWN_BEFORE,
    }
    return (
        all(_is_among(beside[key], rule[key]) for key in beside.keys() & rule.keys())
        and all(not _listed(rule[key]).isdisjoint(some[key]) for key in some.keys() & rule.keys())
        and all(conditions[key] for key in conditions.keys() & rule.keys())
    )


def _is_among(word: str | None, wanted: str) -> bool:
    """Return whether a known word is in the list `wanted`; behind "!", whether it is not."""
    return word is not None and (
        ((word or ".") in _listed(wanted.lstrip("!"))) != wanted.startswith("!")
    )


@cache
def _listed(wanted: str) -> frozenset[str]:
    found: set[str] = set()
    for each in wanted.split():
        found |= _LISTS[each[1:]] if each.startswith("@") else {each}
    return frozenset(found)


# ---------------------------------------------------------------------- verbs and nouns


def _is_verb(word: str, place: Place) -> bool:
    if place.after in _NO_VERB_BEFORE.get(word, ()):
        return False
    if word in _LISTS["verbs"]:
        return not place.is_behind(_LISTS["articles"])
    if place.clause:  # a command?
        return place.after not in _LISTS["finite"] and (
            place.after in _LISTS["objects"] or word in _LISTS["commands"]
        )
    if word.endswith("s") and word[:-1] in _WORDS:
        return _verb_with_s(word, place)
    before = place.at(1)
    if before in _LISTS["adverbs"] or (
        before.endswith("ly") and before not in _LISTS["no_adverbs"]
    ):
        return _is_verb(word, place.earlier())
    if before == "to":
        return place.at(2) not in _LISTS["no_infinitive"] or place.after in _LISTS["objects"]
    return place.is_behind(_LISTS["auxiliaries"]) or _verb_behind_noun(place)


def _verb_with_s(word: str, place: Place) -> bool:
    """Return whether a word with s is a verb ("he records"), not a noun ("the records")."""
    if place.at(1) in _LISTS["third"]:
        return True
    if place.at(1) in _LISTS["determiners"] or place.is_behind(_LISTS["being"]):
        return False
    if place.after in _LISTS["objects"]:
        return True
    return word == "lives" and place.after in _LISTS["particles"] and not _is_plural(place.at(1))


def _verb_behind_noun(place: Place) -> bool:
    before = place.at(1)
    if before in ("that", "which", "and", "or", "but"):
        return place.after in _LISTS["objects"]
    if before in ("me", "us", "him", "her", "them", "it"):
        return place.at(2) in _LISTS["letting"]
    if before == "so" and place.after in _LISTS["objects"]:
        return True
    if before in _LISTS["determiners"] or place.is_behind(_LISTS["being"]):
        return False
    if _is_plural(before):
        return place.after not in _LISTS["finite"]
    described = place.at(2) in ("a", "an", "of")  # "a new record the club set"
    return place.after in _LISTS["objects"] - {"that", "last", "one"} and not described


# ------------------------------------------------------------------- senses of their own


def _irregular_sense(word: str, place: Place) -> str:
    """Return the sense of a word that is more than a verb and a noun; else ""."""
    lower = word.lower()
    match lower:
        case "read":
            return _read(place)
        case "minute":
            return "a" if _is_tiny(place) else "n"
        case "content":
            if place.at(1) in _LISTS["seeming"]:
                return "a"
            ends = place.after in ("", "with", "to", "and", "just")
            return "a" if ends and place.is_behind(_LISTS["being"] - {"more", "as"}) else ""
        case "polish":
            # Of Poland unless a command opens with it.
            named = word[0].isupper() and not (place.clause and _is_verb(lower, place))
            return "n" if named else "v"
    return ""


def _is_tiny(place: Place) -> bool:
    """Return whether "minute" means very small."""
    if place.after == "":
        return place.is_behind(_LISTS["being"] - {"'s"})
    if place.at(1) in _LISTS["counting"] or place.after in _LISTS["minute"]:
        return place.at(1) not in _LISTS["counting"]
    named = place.clause or place.at(1) in _LISTS["determiners"] - _LISTS["prepositions"]
    return _is_plural(place.after or "") and not named


def _read(place: Place) -> str:
    """Return the sense of "read" by its subject: "he read" is past, "I read" mostly is."""
    if place.clause:
        return "v"
    if place.at(1) in _LISTS["adverbs"]:
        is_present, place = place.at(1) in _LISTS["present"], place.earlier()
        if is_present and place.at(1) in ("i", "we", "you", "they"):
            return "v"
    subject, inverted = place.at(1), place.at(2)
    if place.is_behind(_LISTS["having"]) or inverted in _LISTS["having"]:
        return "p"
    if subject in ("i", "we", "they", "you", "he", "she", "it", "who", "and"):
        return _read_by_pronoun(place)
    if (
        inverted in ("let", "help", "make", "did", "does", "will", "can")
        or subject in _LISTS["auxiliaries"]
    ):
        return "v"
    if subject in _LISTS["determiners"] or not subject:
        return "v"
    named = not inverted and subject not in _LISTS["no_readers"]  # "Goethe read Descartes"
    described = inverted in ("a", "an")  # "an easy read for children"
    told = (
        named
        or place.after in _LISTS["objects"]
        or (place.after in (*_LISTS["read_by_one"], "") and not described)
    )
    infinitive = not _LISTS["before_infinitive"].isdisjoint(place.before[-4:])
    return "p" if told and not _is_plural(subject) and not infinitive else "v"


def _read_by_pronoun(place: Place) -> str:
    subject, inverted = place.at(1), place.at(2)
    if inverted in _LISTS["auxiliaries"]:
        return "v"
    if not _LISTS["past"].isdisjoint(place.before):
        return "p"
    if subject == "who" and (_is_plural(inverted) or inverted in ("those", "many")):
        return "v"
    if subject in ("he", "she", "it"):
        return "p"
    if subject == "and":
        past = any(word.endswith("ed") for word in place.before)
        return "p" if past else "v"
    usual = not _LISTS["present"].isdisjoint(place.before) or place.after in _LISTS["habits"]
    return "v" if usual or subject == "you" else "p"


def _is_plural(word: str) -> bool:
    if word in _LISTS["plurals"]:
        return True
    ends = word.endswith("s") and not word.endswith(("ss", "us", "'s"))
    return ends and len(word) > 3 and word not in _LISTS["no_plurals"]
