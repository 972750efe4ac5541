"""Requests about the program in words of a person's own, by the concepts that they name.

Invariant: every word of such a request is of one of the rule's concepts, or has no meaning by
itself, so a sentence about anything else ("delete the third paragraph") is left alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
_NAME: Final = "name"  # of the slot for a word that the rule does not know


# "My eyes hurt, ..." and "..., I'm in a library": why it is asked.
_BECAUSE = (
    r"(?:because |since |as )?(?:i|it|my|your|the|this|that|there|we|people|every(?:body|one)"
    r"|some(?:body|one))\b[^,.;]*"
)
_REASON = re.compile(
    rf"^{_BECAUSE}[,.;]\s*|[,.;]\s*{_BECAUSE}[.!]?$|\s+because\b.*$", re.IGNORECASE
)


@dataclass(frozen=True)
class _Rule:
    """`needs` are sets of words of which one each is said; `allowed` are all that may be said."""

    intent: str
    needs: tuple[frozenset[str], ...]
    allowed: frozenset[str]
    refused: frozenset[str]
    slot_list: str  # empty = the intent takes no values

    def match(self, words: Sequence[str]) -> Slots | None:
        """The slots if the rule holds: the values of the words of its list ("kind_1" and so on, or
        "page"), or the one word of no concept as the "name"; None where it does not hold.
        """
        said = frozenset(words)
        if self.refused & said or any(need.isdisjoint(said) for need in self.needs):
            return None
        others = [word for word in words if word not in self.allowed]
        if self.slot_list == _NAME:
            return {_NAME: others[0]} if len(others) == 1 else None
        if others:
            return None
        meanings = _meanings(self.slot_list) if self.slot_list else {}
        values = [meanings[word] for word in words if word in meanings]
        if self.slot_list == "kind":
            return {f"kind_{at}": value for at, value in enumerate(values, 1)}
        return {"page": values[0]} if values else {}


def gists(text: str) -> Iterator[tuple[str, Slots]]:
    """The intents whose rules hold, the likeliest first, with their slots. Of "slower, I'm learning
    English" the request alone is read if nothing holds for all of it.
    """
    for said in (text, _REASON.sub("", text)):
        words = plain(said).split()
        if len(words) <= LONGEST:
            for rule in _rules():
                if (slots := rule.match(words)) is not None:
                    yield rule.intent, slots


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
        needs = tuple(words(need) for need in each["needs"] if need != _LIST + _NAME)
        allowed = filler.union(*needs, *map(words, each.get("with", ())))
        refused = frozenset[str]().union(*map(words, each.get("without", ()))).difference(*needs)
        lists = [need[1:] for need in each["needs"] if need.startswith(_LIST)]
        rules.append(_Rule(each["intent"], needs, allowed, refused, "".join(lists)))
    return tuple(rules)
