"""Whether the words so far are a whole request, or leave something open.

Some words leave no doubt: a skill's sentence that can or cannot end here, a conjunction, the
opening of a clause, a number that is dictated. For all others three witnesses are weighed: how
often English sentences end after the last two words (the trigram model that comes with
pocketsphinx), how many words were said, and whether a skill has an answer. The weights are a
logistic regression on 166 sentences and beginnings of sentences, as the built-in recogniser heard
four synthetic voices say them; on sentences left out it separates complete from incomplete ones
with an area under the curve of 0.87 (the earlier rules: 0.66). Two more were tried and dropped: the
recogniser's confidence added nothing, and the fall of pitch at a comma and at a stop did not differ
in synthetic voices. Invariant: words in, a judgement out; nothing is remembered.
"""

import math
import re
from collections.abc import Callable, Sequence
from enum import Enum

from engine.asr.phrase_model import learned
from engine.asr.sphinx.english import trigrams

OPEN_BELOW = 0.5  # probability that it is whole
WHOLE_ABOVE = 0.8  # one in thirty beginnings of sentences is above it
MANY_WORDS = 8  # beyond that the number says no more
LEAST_CHANCE = -6.0  # natural logarithm; likewise
# What a skill answers may end in a number, after which other sentences go on; but not with "the".
OPEN_BELOW_UNDERSTOOD = -4.5
LONGEST_CLAUSE = 7  # words after which "if", "when" and the like have had their main clause

FILLERS = frozenset(("um", "uh", "er", "erm", "uhm", "hm", "hmm", "mm"))
# Words nobody ends a sentence with, however seldom the model has met the one before.
JOINERS = frozenset(("and", "but", "or", "because", "if", "the", "a", "an", "my", "your"))
# What stands alone, though the model of whole sentences does not expect it.
ALONE = frozenset(("yes", "no", "stop", "wait", "hello", "hi", "thanks", "okay", "help", "louder"))
_OPENERS = frozenset(("if", "when", "because", "although", "while", "since", "unless", "before"))
_OPENERS_OF_PLACE = frozenset(("in", "on", "at", "by", "for", "with", "after", "and", "but", "so"))
_ASKED = frozenset(("is", "are", "was", "were", "do", "does", "did", "will", "can", "should"))
_PLEASE = "please"
# Answers that are all that is said, though the model expects more.
_ANSWERS = (("yes", _PLEASE), ("no", "thanks"), ("no", "thank", "you"), ("that", "is", "all"))
# After which the request itself follows: "could you please", "I would like to know".
_PREFACES = (
    *(("could", "you"), ("can", "you"), ("would", "you"), ("will", "you"), ("tell", "me")),
    *(("to", "know"), ("to", "ask"), ("you", "please"), ("rubato", "please"), ("me", "know")),
)
_MARKERS = frozenset(("so", "well", "now", "please", "hey", "and", "then", "actually"))
_QUESTIONS = frozenset(("what", "who", "how", "when", "where", "which", "why"))
_WORD = re.compile(r"[a-z']+")
# Words to repeat are announced, or a number is dictated: people pause between its groups.
_ANNOUNCED = re.compile(
    r"\b(?:after me|the following(?: (?:words?|text|sentence|phrase|numbers?))?)[\s.,:!\u2026-]*$",
    re.I,
)
_DICTATES = re.compile(r"\b(?:say|repeat|read|pronounce|dictate|after me|the following)\b", re.I)
_NUMBER_AT_END = re.compile(
    r"(?:\d|\b(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|point|double|triple"
    r"|dash|plus))[\s.,!?-]*$",
    re.IGNORECASE,
)


class Completeness(Enum):
    """How likely more follows, from the likeliest."""

    OPEN = "open"  # something must follow
    UNSURE = "unsure"
    WHOLE = "whole"  # it can stand, and may go on
    SETTLED = "settled"  # no known request goes on from here


class Judge:
    """Judges English text."""

    def __init__(
        self,
        phrases: Sequence[str],
        understands: Callable[[str], bool],
        chance_of_end: Callable[[Sequence[str]], float],
    ) -> None:
        """`phrases` are what people say to the skills, `understands` whether a skill answers;
        `chance_of_end` gives the natural logarithm of the chance that a sentence ends there.
        """
        self._phrases = learned(tuple(phrases))
        self._understands = understands
        self._chance_of_end = chance_of_end

    def judge(self, text: str) -> Completeness:
        """How complete a transcript is; without words UNSURE."""
        words = _WORD.findall(text.lower())
        if _ANNOUNCED.search(text) or (_DICTATES.search(text) and _NUMBER_AT_END.search(text)):
            return Completeness.OPEN
        if not words:
            return Completeness.UNSURE
        if words[-1] in FILLERS | JOINERS or text.rstrip().endswith(("...", "…", ",", "-")):
            return Completeness.OPEN
        if tuple(words) in _ANSWERS:
            return Completeness.WHOLE
        polite = words[-1] == _PLEASE and tuple(words[-2:]) not in _PREFACES
        if polite and self._understands(text):  # a skill's request: people stop there
            return Completeness.SETTLED
        if _is_preface(words):
            return Completeness.OPEN
        if self._phrases.likely_start(words, unseen=0) < len(words):
            return self._of_other_words(text, words)
        if not self._understands(text):  # the beginning of a skill's sentence
            return Completeness.OPEN
        return Completeness.WHOLE if self._phrases.goes_on(words) else Completeness.SETTLED

    def _of_other_words(self, text: str, words: list[str]) -> Completeness:
        if len(words) == 1 and words[0] in ALONE:
            return Completeness.WHOLE
        if _opens_clause(words):
            return Completeness.OPEN
        chance = self._chance_of_end(words)
        understood = self._understands(text)
        whole = _probability(chance, len(words), understood=understood)
        if whole >= WHOLE_ABOVE:
            return Completeness.WHOLE
        if whole >= OPEN_BELOW or (understood and chance >= OPEN_BELOW_UNDERSTOOD):
            return Completeness.UNSURE
        return Completeness.OPEN


def _probability(chance: float, words: int, *, understood: bool) -> float:
    """That so many words are a whole sentence, of which `chance` is as chance_of_end() tells."""
    told = 0.65 * max(chance, LEAST_CHANCE) + 4.1 * math.log(min(words, MANY_WORDS))
    return 1.0 / (1.0 + math.exp(5.8 - told - 3.2 * understood))


def _is_preface(words: Sequence[str]) -> bool:
    """Whether nothing was asked yet."""
    alone = len(words) == 1 and words[0] in _QUESTIONS
    only_begun = words[-1] in _MARKERS and all(word in _MARKERS | ALONE for word in words)
    return alone or only_begun or (len(words) <= LONGEST_CLAUSE and tuple(words[-2:]) in _PREFACES)


def _opens_clause(words: Sequence[str]) -> bool:
    """Whether the main clause is still to come, by the first words: "if I leave at five"."""
    if len(words) > LONGEST_CLAUSE:
        return False
    if words[0] in _OPENERS:
        return len(words) < 2 or words[1] not in _ASKED
    return words[0] in _OPENERS_OF_PLACE and len(words) <= 3


def chance_of_end() -> Callable[[Sequence[str]], float]:
    """The trigram model that comes with pocketsphinx, read when it is asked for the first time."""
    import pocketsphinx

    logarithms = pocketsphinx.LogMath()

    def chance(words: Sequence[str]) -> float:
        # The model wants the newest word first.
        newest = reversed(["<s>", *words][-2:])
        return float(logarithms.log_to_ln(trigrams().prob(["</s>", *newest])))

    return chance
