"""Senses of words that are written alike, by the rules of resources/text/homographs.toml."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from engine.resources import table
from engine.text.pronunciation.place import Place
from engine.text.tables import section, words

SOUNDS: Final = section("homographs", "sounds")
"""Espeak's mnemonics of a word in a sense: "bass f"."""
_RULES: Final[dict[str, list[dict[str, Any]]]] = table("text", "homographs.toml")["rules"]
SINGLE: Final = frozenset(
    word
    for word in _RULES
    if not {f"{word} v", f"{word} n"} & SOUNDS.keys()
    and not {word, word.removesuffix("s")}
    & (words("heteronyms", "nouns") | words("heteronyms", "adjectives"))
)
"""Words whose rules say all there is: where none holds, espeak is right."""
REACH: Final = 5
"""So many words behind a word may decide its sense, unless its rule has another "reach"."""
_TOWN_BEFORE: Final = frozenset(
    "in to from near of at around outside visit visited via leave left through for".split()
)


def sense(word: str, place: Place) -> str:
    """Return the sense of the first matching rule, otherwise "n" if only the noun has a listed
    sound.
    """
    lower = word.lower()
    for rule in _RULES.get(lower, ()):
        if _holds(rule, word, place):
            found: str = rule["sense"]
            return found
    return "n" if lower in _RULES and f"{lower} n" in SOUNDS and f"{lower} v" not in SOUNDS else ""


def waits(word: str, place: Place) -> bool:
    """Return whether words that are not known yet may decide the sense."""
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
    for key, wanted in rule.items():
        match key:
            case "before" | "second" | "after":
                if not _is_among(beside[key], wanted):
                    return False
            case "earlier" | "later":
                words = (
                    place.before if key == "earlier" else place.later[: rule.get("reach", REACH)]
                )
                if _listed(wanted).isdisjoint(words):
                    return False
            case "clause" | "upper" | "lower" | "place":
                if not _condition_holds(key, word, place):
                    return False
    return True


def _condition_holds(key: str, word: str, place: Place) -> bool:
    match key:
        case "clause":
            return place.clause
        case "lower":
            return word.islower()
        case "upper":
            return word.istitle()
    return word.istitle() and not place.clause and place.at(1) in _TOWN_BEFORE


def _is_among(word: str | None, wanted: str) -> bool:
    """Return whether the word is in the list `wanted`. If `wanted` begins with "!", return the
    opposite.
    """
    if word is None:
        return False
    found = (word or ".") in _listed(wanted.lstrip("!"))
    return found != wanted.startswith("!")


@cache
def _listed(wanted: str) -> frozenset[str]:
    found: set[str] = set()
    for each in wanted.split():
        found |= words("heteronyms", each[1:]) if each.startswith("@") else {each}
    return frozenset(found)
