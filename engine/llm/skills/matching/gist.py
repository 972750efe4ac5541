"""Requests about the program in words of a person's own, by the concepts that they name.

Invariant: every word of such a request is of one of the rule's concepts, or has no meaning by
itself, so a sentence about anything else ("delete the third paragraph") is left alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.llm.skills.matching.canonical import plain
from engine.llm.skills.matching.intent import Slots
from engine.llm.skills.matching.repertoire import repertoire
from engine.resources import table

NAME: Final = "gist"  # of the intent in whose place the meaning comes
LONGEST: Final = 14  # words
_LIST: Final = "@"


@dataclass(frozen=True)
class _Rule:
    """`needs` are sets of words of which one each is said; `allowed` are all that may be said."""

    intent: str
    needs: tuple[frozenset[str], ...]
    allowed: frozenset[str]
    refused: frozenset[str]
    slot_list: str  # empty = the intent takes no values

    def holds(self, words: Sequence[str]) -> bool:
        said = frozenset(words)
        return (
            said <= self.allowed
            and self.refused.isdisjoint(said)
            and all(not need.isdisjoint(said) for need in self.needs)
        )


def gist(text: str) -> tuple[str, Slots] | None:
    """The intent whose rule holds first, and its slots; None where none does."""
    words = plain(text).split()
    if len(words) > LONGEST:
        return None
    held = next((rule for rule in _rules() if rule.holds(words)), None)
    return (held.intent, _values(held, words)) if held else None


def _values(rule: _Rule, words: Sequence[str]) -> Slots:
    """What the words of the rule's list stand for: "kind_1" and so on, or the slot of its name."""
    if not rule.slot_list:
        return {}
    values = [value for word in words if (value := _meanings(rule.slot_list).get(word))]
    several = {f"{rule.slot_list}_{at}": value for at, value in enumerate(values, 1)}
    return {**several, "page": values[0]} if rule.slot_list != "kind" else several


@cache
def _meanings(name: str) -> Mapping[str, str]:
    """The single words of a list of the skills, with their values."""
    forms = repertoire().lists[name]
    return {word: value for said, value in forms for word in re.findall(r"[^()|]+", said)}


@cache
def _rules() -> tuple[_Rule, ...]:
    content = table("skills", "gist.toml")
    concepts = {name: frozenset(words.split()) for name, words in content["concepts"].items()}
    filler = frozenset(content["filler"].split())

    def words(names: str) -> frozenset[str]:
        return frozenset[str]().union(
            *(
                _meanings(name[1:]) if name.startswith(_LIST) else concepts[name]
                for name in names.split("|")
            )
        )

    rules = []
    for each in content["rules"]:
        needs = tuple(map(words, each["needs"]))
        allowed = filler.union(*needs, *map(words, each.get("with", ())))
        refused = frozenset[str]().union(*map(words, each.get("without", ()))).difference(*needs)
        lists = [need[1:] for need in each["needs"] if need.startswith(_LIST)]
        rules.append(_Rule(each["intent"], needs, allowed, refused, "".join(lists)))
    return tuple(rules)
