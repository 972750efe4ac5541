"""Example sentences for the recogniser's language model, expanded from the skills' own templates.

Expanding them takes 10 s of CPU time, so they are kept in sentences.txt, and tests fail when that
file is older than the templates: `python -m engine.llm.skills.matching.corpus` writes it again.
Invariant: the same sentences in the same order every time; only lower-case words, apostrophes and
spaces, numbers in words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from itertools import chain, islice
from typing import Final

from hassil import SlotList, TextSlotList, sample_expression

from engine.llm.skills.matching.repertoire import repertoire
from engine.resources import resource
from engine.text.unit_table import UNITS

# The acoustic search gets slower and less certain with every sentence that nobody says; loading
# takes 40 ms more for every thousand.
FILE: Final = "sentences.txt"  # beside the skills' own files
MAX_SENTENCES = 7000
MAX_PER_TEMPLATE = 200  # to choose from
_MAX_EXPANSIONS = 20_000  # of one template; then they are thinned out evenly

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_NOT_WORDS = re.compile(r"[^a-z' ]+")


@lru_cache(maxsize=1)
def sentences() -> tuple[str, ...]:
    """At most MAX_SENTENCES sentences a person may say to the built-in skills, without
    duplicates."""
    return tuple(resource("skills", FILE).read_text(encoding="ascii").splitlines())


def expand() -> tuple[str, ...]:
    """Expand the templates to the sentences that sentences() returns."""
    by_template = [
        pool[:: -(-len(pool) // MAX_PER_TEMPLATE) or 1]  # spread evenly
        for pool in _pools(_MAX_EXPANSIONS)
    ]
    first = beginning()
    return first + tuple(islice(_varied(by_template, first), MAX_SENTENCES - len(first)))


def beginning() -> tuple[str, ...]:
    """Return the first sentences of expand(), without expanding all templates: sentences with every
    unit and number, and for each template one that begins with its commonest words.
    """
    certain = chain(_conversions(), _counting(), (pool[0] for pool in _pools(1)))
    return tuple(dict.fromkeys(filter(None, map(spoken, certain))))


def _pools(most: int) -> Iterator[list[str]]:
    """Yield up to `most` expansions of every template."""
    skills, lists = repertoire(), spoken_lists()
    for expression in skills.templates(skills.intents).expressions():
        yield list(islice(sample_expression(expression, lists), most))


def _varied(by_template: Sequence[Sequence[str]], before: Iterable[str]) -> Iterator[str]:
    """Yield from each template in turn the sentence with the largest share of new steps from word
    to word, until none has a new step. Templates count the same, however many sentences they expand
    to, so that a limit does not leave out the last alternative of a template ("good morning").
    """
    known = {step for sentence in before for step in _steps(sentence)}

    def rank(sentence: str) -> tuple[float, int, str]:
        steps = _steps(sentence)
        # With one more, a short sentence is not behind a longer one that begins as it does.
        return -(len(steps - known) + 1) / len(steps), len(steps), sentence

    queues = [[rank(said) for said in set(map(spoken, each)) if said] for each in by_template]
    for queue in queues:
        heapify(queue)
    while any(queues):
        for queue in filter(None, queues):
            # A rank only gets worse: the first that has its rank still is the best of all.
            while queue[0] != (now := rank(queue[0][-1])):
                heapreplace(queue, now)
            sentence = heappop(queue)[-1]
            if not _steps(sentence) <= known:
                known |= _steps(sentence)
                yield sentence


def _steps(sentence: str) -> set[tuple[str, ...]]:
    """Each word, and the end, after the two before it: what the recogniser's model knows."""
    words = ("", *sentence.split(), "")
    return {words[max(0, at - 2) : at + 1] for at in range(1, len(words))}


def spoken_lists() -> dict[str, SlotList]:
    """Return every slot as a list of the words that people say in it."""
    skills = repertoire()
    said = skills.examples | {
        name: [form for form, _ in forms] for name, forms in skills.lists.items()
    }
    said["expression"] = (*_sums(), *said["expression"])
    return {name: TextSlotList.from_strings(forms) for name, forms in said.items()}


def _sums() -> Iterator[str]:
    for left in range(1, 101):
        yield f"{left} plus {101 - left}"
    for left in range(1, 101, 3):
        yield f"{left} times {(left * 7) % 20 + 1}"
    for left in range(1, 50, 4):
        yield f"{100 - left} minus {left}"
    for left in range(1, 25, 2):
        yield f"{left * 4} divided by {left % 12 + 1}"
    for left in range(5, 101, 5):
        yield f"{left} percent of {left * 3 % 100 + 1}"
    yield "the square root of (2|9|16|25|49|64|81|100|144)"
    yield "(3|5|8|11|12|15) squared"
    yield "half of (10|25|50|90)"


def _conversions() -> Iterator[str]:
    """Every unit in every spelling, after a number and together with its neighbour in the table."""
    count = 1
    for unit, other in zip(UNITS, (*UNITS[1:], UNITS[0]), strict=True):
        for form in (unit.plural, *unit.also):
            count = count % 100 + 1
            yield f"convert {count} {form} to {other.plural}"
            yield f"how many {form} are there in a {other.singular}"


def _counting() -> Iterator[str]:
    """Sentences with every number from 0 to 100."""
    for number in range(101):
        for operator in ("times", "plus", "minus", "divided by", "percent of"):
            yield f"what is {number} {operator} {100 - number}"
        yield f"set a timer for {number} minutes"
        yield f"volume {number} percent"


def spoken(sentence: str) -> str:
    """The sentence as the recogniser would write it: only words. Empty when letters of a symbol
    would remain."""
    from num2words import num2words  # of 60 languages: only to expand

    words = _DIGITS.sub(lambda match: f" {num2words(float(match[0]))} ", sentence.lower())
    words = words.replace(" point zero ", " ").replace("-", " ")
    return " ".join(_NOT_WORDS.sub(" ", words).split())


if __name__ == "__main__":
    kept = resource("skills") / FILE
    kept.write_text("".join(f"{sentence}\n" for sentence in expand()), encoding="ascii")
